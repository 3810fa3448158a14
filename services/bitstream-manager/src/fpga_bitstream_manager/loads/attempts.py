"""One attempt in the ledger: claimed, under way, settled. Called by workers and the reconciler.

Each function is called inside a write transaction and raises Superseded where the attempt is not
the load's current one: then somebody else has settled it, and the caller stops.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, exists, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from fpga_bitstream_manager.ledger import DeviceRow
from fpga_bitstream_manager.ledger.loads import LoadAttemptRow, LoadRow
from fpga_bitstream_manager.loads.history import Note, Superseded, append, change
from fpga_bitstream_manager.loads.lookup import bitstream_of, target_facts
from fpga_bitstream_manager.loads.planning import (
    NextStep,
    after_failure,
    after_loss,
    after_success,
    before_claim,
    obstacle,
    state_in_phase,
)
from fpga_bitstream_manager.loads.values import (
    IN_FLIGHT,
    Assignment,
    Attempt,
    Failed,
    OperationEnd,
    Progress,
    Succeeded,
    TargetFacts,
)
from fpga_common.domain.load import AttemptOutcome, IfBusy, LoadState
from fpga_common.domain.operation import Failure, FailureCode


@dataclass(frozen=True, slots=True)
class Claim:
    """Who claims, when, and until when its word is trusted."""

    worker: str
    now: datetime
    lease_until: datetime


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed attempt with what the ledger knows of its target."""

    assignment: Assignment
    target: TargetFacts


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """At most one claimed attempt, and every load that changed on the way to it."""

    claimed: Claimed | None
    changed: tuple[str, ...]


def claim_next(session: Session, node: str, card: str, claim: Claim) -> ClaimResult:
    """Claim the first queued load of a card that nothing stands in the way of.

    Loads that something stands in the way of are set to waiting, or end, without an attempt.
    """
    changed: list[str] = []
    for row in _queued(session, node, card, claim.now):
        target = target_facts(session, row.node, row.device)
        found = obstacle(bitstream_of(row), target, force=row.force)
        if found is not None or target is None or claim.now >= row.deadline_at:
            _step_aside(session, row, found or _overdue(), claim.now)
            changed.append(row.id)
        elif _claim(session, row, target, claim):
            return ClaimResult(Claimed(assignment_of(row), target), (*changed, row.id))
        else:
            break
    return ClaimResult(None, tuple(changed))


def _queued(session: Session, node: str, card: str, now: datetime) -> list[LoadRow]:
    query = (
        select(LoadRow)
        .where(
            LoadRow.node == node,
            LoadRow.card == card,
            LoadRow.state == LoadState.QUEUED,
            (LoadRow.not_before.is_(None)) | (LoadRow.not_before <= now),
        )
        .order_by(LoadRow.rank, LoadRow.id)
        .limit(50)
        .with_for_update()
    )
    return list(session.scalars(query))


def _step_aside(session: Session, row: LoadRow, found: Failure, now: datetime) -> None:
    step = before_claim(
        found,
        if_busy=IfBusy(row.if_busy),
        waits=row.waits,
        now=now,
        deadline_at=row.deadline_at,
    )
    change(
        session,
        row,
        step.state,
        Note(now, found.message),
        waits=row.waits + 1,
        not_before=step.not_before,
        **error_values(found),
    )


def _claim(session: Session, row: LoadRow, target: TargetFacts, claim: Claim) -> bool:
    other = aliased(LoadRow)
    busy = exists().where(
        other.node == row.node, other.card == row.card, other.state.in_(IN_FLIGHT)
    )
    statement = (
        update(LoadRow)
        .where(
            LoadRow.id == row.id,
            LoadRow.state == LoadState.QUEUED,
            LoadRow.attempt == row.attempt,
            ~busy,
        )
        .values(
            state=LoadState.CLAIMED,
            attempt=row.attempt + 1,
            claimed_by=claim.worker,
            lease_until=claim.lease_until,
            started_at=row.started_at or claim.now,
            previous_afu_id=target.afu_id,
            not_before=None,
            cancel_asked_at=None,
            phase=None,
            percent=0.0,
            message="claimed",
            sequence=row.sequence + 1,
            **error_values(None),
        )
        .execution_options(synchronize_session=False)
    )
    try:
        with session.begin_nested():
            result = cast("CursorResult[Any]", session.execute(statement))
    except IntegrityError:  # another worker claimed a load of this card in the same moment
        return False
    if result.rowcount != 1:
        return False
    session.refresh(row)
    session.add(
        LoadAttemptRow(
            load_id=row.id, number=row.attempt, worker=claim.worker, started_at=claim.now
        )
    )
    append(session, row, Note(claim.now, "claimed", claim.worker))
    return True


def assignment_of(row: LoadRow) -> Assignment:
    """The load's current attempt as a worker needs it."""
    return Assignment(
        attempt=Attempt(row.id, row.attempt),
        node=row.node,
        device=row.device,
        card=row.card,
        bitstream=bitstream_of(row),
        force=row.force,
        if_busy=IfBusy(row.if_busy),
        requested_by=row.requested_by,
        deadline_at=row.deadline_at,
    )


def in_flight_row(session: Session, attempt: Attempt) -> LoadRow:
    """The load while ``attempt`` is its current one. Raises Superseded."""
    row = session.get(LoadRow, attempt.load_id, with_for_update=True)
    if row is None or row.attempt != attempt.number or LoadState(row.state) not in IN_FLIGHT:
        raise Superseded(f"attempt {attempt.number} of load {attempt.load_id} is over")
    return row


def record_progress(
    session: Session,
    attempt: Attempt,
    progress: Progress,
    now: datetime,
    lease_until: datetime | None,
) -> LoadState:
    """Write what the agent says. ``lease_until`` None leaves the lease as it is."""
    row = in_flight_row(session, attempt)
    change(
        session,
        row,
        state_in_phase(LoadState(row.state), progress.phase),
        Note(now, progress.message or progress.phase.value),
        phase=progress.phase.value,
        percent=max(row.percent, min(100.0, max(0.0, progress.percent))),
        lease_until=lease_until or row.lease_until,
    )
    return LoadState(row.state)


@dataclass(frozen=True, slots=True)
class Settled:
    """What an attempt left behind: the load's state, and the card that is free now."""

    load_id: str
    state: LoadState
    node: str
    card: str


def settle(session: Session, attempt: Attempt, end: OperationEnd, now: datetime) -> Settled:
    """End an attempt with what the node said, and its load where nothing more can follow."""
    row = in_flight_row(session, attempt)
    if isinstance(end, Succeeded):
        return _succeed(session, row, end, now)
    return _fail(session, row, end, now)


def settle_lost(session: Session, attempt: Attempt, now: datetime) -> Settled:
    """End an attempt that the node has never heard of."""
    row = in_flight_row(session, attempt)
    failure = Failure(FailureCode.INTERRUPTED, "the worker ended before the node was asked")
    step = after_loss(LoadState(row.state), attempt=row.attempt, now=now)
    return _finish(session, row, step, failure, now)


def _succeed(session: Session, row: LoadRow, end: Succeeded, now: datetime) -> Settled:
    step = after_success()
    _close_attempt(session, row, step, None, now)
    change(
        session,
        row,
        step.state,
        Note(now, end.message or "verified"),
        afu_id=end.afu_id,
        phase="done",
        percent=100.0,
        **error_values(None),
    )
    _note_device(session, row, end, now)
    return Settled(row.id, step.state, row.node, row.card)


def _fail(session: Session, row: LoadRow, end: Failed, now: datetime) -> Settled:
    step = after_failure(
        end.failure,
        current=LoadState(row.state),
        attempt=row.attempt,
        seen=_codes_seen(session, row),
        if_busy=IfBusy(row.if_busy),
        now=now,
        deadline_at=row.deadline_at,
    )
    return _finish(session, row, step, end.failure, now)


def _finish(
    session: Session, row: LoadRow, step: NextStep, failure: Failure, now: datetime
) -> Settled:
    _close_attempt(session, row, step, failure, now)
    values: dict[str, Any] = {"lease_until": None, "not_before": step.not_before}
    if step.state is LoadState.WAITING:
        values["waits"] = row.waits + 1
    if step.state is LoadState.QUEUED:
        values["dispatched_at"] = None
    change(session, row, step.state, Note(now, failure.message), **values, **error_values(failure))
    return Settled(row.id, step.state, row.node, row.card)


def _close_attempt(
    session: Session, row: LoadRow, step: NextStep, failure: Failure | None, now: datetime
) -> None:
    session.execute(
        update(LoadAttemptRow)
        .where(LoadAttemptRow.load_id == row.id, LoadAttemptRow.number == row.attempt)
        .values(ended_at=now, outcome=step.outcome.value, **error_values(failure))
    )


def _codes_seen(session: Session, row: LoadRow) -> set[FailureCode]:
    codes = session.scalars(
        select(LoadAttemptRow.error_code).where(
            LoadAttemptRow.load_id == row.id,
            LoadAttemptRow.number < row.attempt,
            LoadAttemptRow.outcome != AttemptOutcome.LOST,
        )
    )
    return {FailureCode(code) for code in codes if code}


def _note_device(session: Session, row: LoadRow, end: Succeeded, now: datetime) -> None:
    values: dict[str, Any] = {}
    if end.afu_id is not None:
        values |= {"afu_id": end.afu_id, "changed_at": now}
    if row.persist:
        values |= {"desired_digest": row.bitstream_digest, "desired_afu_id": row.wanted_afu_id}
    if values:
        session.execute(
            update(DeviceRow)
            .where(DeviceRow.node == row.node, DeviceRow.id == row.device)
            .values(**values)
        )


def _overdue() -> Failure:
    return Failure(FailureCode.DEADLINE_EXCEEDED, "the deadline passed before the load began")


def error_values(failure: Failure | None) -> dict[str, str | None]:
    """The error columns of a load or an attempt."""
    return {
        "error_code": failure.code.value if failure else None,
        "error_message": failure.message if failure else None,
        "error_expected": failure.expected if failure else None,
        "error_actual": failure.actual if failure else None,
    }
