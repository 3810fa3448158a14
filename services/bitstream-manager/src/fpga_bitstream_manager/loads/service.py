"""What the API and report ingestion call: ask for loads, end them, read them.

Each call is one transaction; workers and watchers hear of it after the commit. Must not know HTTP.
"""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from fpga_bitstream_manager.access.audit import record
from fpga_bitstream_manager.clock import Clock, utc_now
from fpga_bitstream_manager.ledger import Ledger, LedgerUnavailable, after_commit
from fpga_bitstream_manager.ledger.loads import LoadAttemptRow, LoadEventRow, LoadRow
from fpga_bitstream_manager.loads.documents import (
    detail_document,
    event_document,
    load_document,
)
from fpga_bitstream_manager.loads.lookup import load_row
from fpga_bitstream_manager.loads.requests import request_cancel, request_load, request_retry
from fpga_bitstream_manager.loads.signals import Dispatcher, Notices
from fpga_bitstream_manager.loads.upkeep import mark_dispatched, wake_waiting
from fpga_common.contract.loads import Load, LoadCreate, LoadDetail, LoadEventMessage
from fpga_common.domain.load import LoadState
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)


class LoadService:
    """Loads of the whole cluster. Safe to use from several threads."""

    def __init__(
        self, ledger: Ledger, dispatcher: Dispatcher, notices: Notices, clock: Clock = utc_now
    ) -> None:
        self._ledger = ledger
        self._dispatcher = dispatcher
        self._notices = notices
        self._clock = clock

    def create_in(self, session: Session, asked: LoadCreate, actor: str) -> Load:
        """Write a queued load in the caller's transaction; it is dispatched after the commit.

        Raises what ``requests.request_load`` raises.
        """
        row = request_load(session, asked, actor, self._clock())
        self._audit(session, "load.create", row)
        after_commit(session, lambda: self.dispatch([row.id]))
        return load_document(row)

    def create(self, asked: LoadCreate, actor: str) -> Load:
        """Write a queued load and dispatch it. Raises what ``requests.request_load`` raises."""
        with self._ledger.transaction() as session:
            return self.create_in(session, asked, actor)

    def retry_in(self, session: Session, load_id: str, actor: str) -> Load:
        """Ask for the same as an ended load, in the caller's transaction.

        Raises what ``requests.request_retry`` raises.
        """
        row = request_retry(session, load_id, actor, self._clock())
        self._audit(session, "load.retry", row)
        after_commit(session, lambda: self.dispatch([row.id]))
        return load_document(row)

    def retry(self, load_id: str, actor: str) -> Load:
        """Ask for the same as an ended load. Raises what ``requests.request_retry`` raises."""
        with self._ledger.transaction() as session:
            return self.retry_in(session, load_id, actor)

    def cancel(self, load_id: str, actor: str) -> Load:
        """End a load, or begin to stop it. Raises UnknownLoad, LoadEnded."""
        with self._ledger.transaction() as session:
            row = request_cancel(session, load_id, actor, self._clock())
            self._audit(session, "load.cancel", row)
        self._notices.changed([load_id])
        if row.state == LoadState.CANCELLING:
            self._dispatcher.cancel(load_id)
        return load_document(row)

    def _audit(self, session: Session, action: str, row: LoadRow) -> None:
        record(
            session,
            self._clock,
            action,
            f"load {row.id}",
            node=row.node,
            device=row.device,
            bitstream=row.bitstream_digest,
            force=row.force,
            message=row.message,
        )

    def node_changed(self, node: str) -> None:
        """Let waiting loads of a node try again: it has just reported something new."""
        with self._ledger.transaction() as session:
            woken = wake_waiting(session, self._clock(), node=node)
        self.dispatch(woken)

    def dispatch(self, load_ids: Sequence[str]) -> None:
        """Tell watchers and workers of queued loads; the reconciler sends what could not be."""
        if not load_ids:
            return
        self._notices.changed(load_ids)
        unsent = [load_id for load_id in load_ids if not self._dispatcher.run(load_id)]
        if unsent:
            self._mark_unsent(unsent)

    def _mark_unsent(self, load_ids: Sequence[str]) -> None:
        """Let the reconciler send them at once. What was committed must not look like a failure."""
        try:
            with self._ledger.transaction() as session:
                mark_dispatched(session, load_ids, None)
        except LedgerUnavailable as error:  # it sends them all the same, 10 seconds later
            log.warning("unsent_not_marked", loads=list(load_ids), reason=error.message)

    def get(self, load_id: str) -> Load:
        """A load. Raises UnknownLoad."""
        with self._ledger.reading() as session:
            return load_document(load_row(session, load_id))

    def detail(self, load_id: str) -> LoadDetail:
        """A load with attempts and history. Raises UnknownLoad."""
        with self._ledger.reading() as session:
            row = load_row(session, load_id)
            attempts = session.scalars(
                select(LoadAttemptRow)
                .where(LoadAttemptRow.load_id == load_id)
                .order_by(LoadAttemptRow.number)
            )
            return detail_document(row, list(attempts), _events(session, load_id, 0))

    def events_after(self, load_id: str, sequence: int) -> list[LoadEventMessage]:
        """The events after number ``sequence``, with the load as it is. Raises UnknownLoad."""
        with self._ledger.reading() as session:
            load = load_document(load_row(session, load_id))
            events = _events(session, load_id, sequence)
        return [LoadEventMessage(load=load, event=event_document(event)) for event in events]


def _events(session: Session, load_id: str, after: int) -> list[LoadEventRow]:
    query = (
        select(LoadEventRow)
        .where(LoadEventRow.load_id == load_id, LoadEventRow.sequence > after)
        .order_by(LoadEventRow.sequence)
    )
    return list(session.scalars(query))
