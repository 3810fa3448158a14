"""What has to happen to loads without anybody asking. Called by the reconciler.

Each function is one short write transaction's part and returns what it changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Select, exists, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from fpga_bitstream_manager.ledger import NodeRow
from fpga_bitstream_manager.ledger.loads import LoadAttemptRow, LoadRow
from fpga_bitstream_manager.loads.attempts import assignment_of, error_values
from fpga_bitstream_manager.loads.history import Note, change
from fpga_bitstream_manager.loads.lookup import bitstream_of, target_facts
from fpga_bitstream_manager.loads.planning import may_wake
from fpga_bitstream_manager.loads.values import IN_FLIGHT, Assignment
from fpga_common.domain.load import AttemptOutcome, LoadState
from fpga_common.domain.operation import Failure, FailureCode

#: How long past its deadline a node may take to end an operation that it cannot stop.
IN_FLIGHT_GRACE_SECONDS: Final = 60.0
#: How long a message may take from the broker to a claim before it is thought lost.
MESSAGE_SECONDS: Final = 10.0
_BATCH: Final = 500


def expire_overdue(session: Session, now: datetime) -> list[str]:
    """End loads whose deadline has passed; running ones get time to end on their node."""
    grace = now - timedelta(seconds=IN_FLIGHT_GRACE_SECONDS)
    rows = session.scalars(
        select(LoadRow)
        .where(
            or_(
                LoadRow.state.in_((LoadState.QUEUED, LoadState.WAITING))
                & (LoadRow.deadline_at <= now),
                LoadRow.state.in_(IN_FLIGHT)
                & (LoadRow.deadline_at <= grace)
                & or_(LoadRow.lease_until.is_(None), LoadRow.lease_until <= now),
            )
        )
        .limit(_BATCH)
        .with_for_update()
    )
    return [_expire(session, row, now) for row in rows.all()]


def _expire(session: Session, row: LoadRow, now: datetime) -> str:
    failure = Failure(FailureCode.DEADLINE_EXCEEDED, _overdue_words(row))
    state = LoadState(row.state)
    if state in IN_FLIGHT:
        _close_attempt(session, row, failure, now)
    following = LoadState.FAILED if state is LoadState.CANCELLING else LoadState.EXPIRED
    change(session, row, following, Note(now, failure.message), **error_values(failure))
    return row.id


def _overdue_words(row: LoadRow) -> str:
    seconds = (row.deadline_at - row.created_at).total_seconds()
    words = f"not done within {seconds:g} s of the request; it was {row.state}"
    return f"{words}: {row.error_message}" if row.error_message else words


def _close_attempt(session: Session, row: LoadRow, failure: Failure, now: datetime) -> None:
    session.execute(
        update(LoadAttemptRow)
        .where(LoadAttemptRow.load_id == row.id, LoadAttemptRow.number == row.attempt)
        .values(ended_at=now, outcome=AttemptOutcome.LOST.value, **error_values(failure))
    )


def wake_waiting(session: Session, now: datetime, *, node: str | None = None) -> list[str]:
    """Queue waiting loads again whose region looks free.

    With ``node``, because that node has just reported a change: at once. Without, those whose
    pause is over.
    """
    due = (
        LoadRow.node == node
        if node
        else or_(LoadRow.not_before.is_(None), LoadRow.not_before <= now)
    )
    rows = session.scalars(
        select(LoadRow)
        .where(LoadRow.state == LoadState.WAITING, LoadRow.node.in_(_heard_of()), due)
        .order_by(LoadRow.rank, LoadRow.id)
        .limit(_BATCH)
        .with_for_update()
    )
    return [row.id for row in rows.all() if _wake(session, row, now)]


def _heard_of() -> Select[str]:
    """Nodes whose loads may wake: those of a node that is away must not crowd out the others."""
    return select(NodeRow.name).where(NodeRow.stale.is_(False))


def _wake(session: Session, row: LoadRow, now: datetime) -> bool:
    target = target_facts(session, row.node, row.device)
    if not may_wake(bitstream_of(row), target, force=row.force):
        return False
    note = Note(now, "the region looks free: queued again")
    change(session, row, LoadState.QUEUED, note, not_before=None, dispatched_at=None)
    return True


def undelivered(session: Session, now: datetime) -> list[str]:
    """The first queued load of each idle card for which no message can be under way."""
    other = aliased(LoadRow)
    busy = exists().where(
        other.node == LoadRow.node, other.card == LoadRow.card, other.state.in_(IN_FLIGHT)
    )
    lost = now - timedelta(seconds=MESSAGE_SECONDS)
    place = func.row_number().over(
        partition_by=(LoadRow.node, LoadRow.card), order_by=(LoadRow.rank, LoadRow.id)
    )
    first = (
        select(LoadRow.id, LoadRow.dispatched_at, place.label("place"))
        .where(
            LoadRow.state == LoadState.QUEUED,
            or_(LoadRow.not_before.is_(None), LoadRow.not_before <= now),
            ~busy,
        )
        .subquery()
    )
    query = select(first.c.id).where(
        first.c.place == 1, or_(first.c.dispatched_at.is_(None), first.c.dispatched_at <= lost)
    )
    return list(session.scalars(query.limit(_BATCH)))


def mark_dispatched(session: Session, load_ids: Sequence[str], when: datetime | None) -> None:
    """Note that messages were sent (or, with None, that they could not be)."""
    session.execute(update(LoadRow).where(LoadRow.id.in_(load_ids)).values(dispatched_at=when))


@dataclass(frozen=True, slots=True)
class Orphan:
    """A running attempt whose worker is silent."""

    assignment: Assignment
    state: LoadState
    agent_address: str | None
    agent_certificate: str | None


def orphans(session: Session, now: datetime) -> list[Orphan]:
    """Attempts whose lease has run out: the node has to say what became of them."""
    rows = session.scalars(
        select(LoadRow)
        .where(
            LoadRow.state.in_(IN_FLIGHT),
            or_(LoadRow.lease_until.is_(None), LoadRow.lease_until <= now),
        )
        .order_by(LoadRow.id)
        .limit(_BATCH)
    )
    return [_orphan(session, row) for row in rows.all()]


def unasked_cancellations(session: Session, load_id: str | None = None) -> list[Orphan]:
    """Attempts (or one load's) that shall stop, of which the node does not know yet."""
    query = select(LoadRow).where(
        LoadRow.state == LoadState.CANCELLING, LoadRow.cancel_asked_at.is_(None)
    )
    if load_id is not None:
        query = query.where(LoadRow.id == load_id)
    return [_orphan(session, row) for row in session.scalars(query.limit(_BATCH)).all()]


def _orphan(session: Session, row: LoadRow) -> Orphan:
    target = target_facts(session, row.node, row.device)
    return Orphan(
        assignment_of(row),
        LoadState(row.state),
        target.agent_address if target else None,
        target.agent_certificate if target else None,
    )
