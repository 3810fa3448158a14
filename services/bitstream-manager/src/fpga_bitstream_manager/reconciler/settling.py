"""Finds out from the nodes what became of attempts whose worker is silent."""

from collections.abc import Iterable

from sqlalchemy.orm import Session

from fpga_bitstream_manager.agents import (
    AgentConnector,
    AgentRefused,
    AgentUnreachable,
)
from fpga_bitstream_manager.agents.client import OperationState
from fpga_bitstream_manager.clock import Clock, utc_now
from fpga_bitstream_manager.ledger import Ledger
from fpga_bitstream_manager.loads.attempts import (
    Settled,
    in_flight_row,
    record_progress,
    settle,
    settle_lost,
)
from fpga_bitstream_manager.loads.history import Superseded
from fpga_bitstream_manager.loads.signals import Notices
from fpga_bitstream_manager.loads.upkeep import Orphan
from fpga_bitstream_manager.loads.values import Attempt, Failed, Progress
from fpga_bitstream_manager.reconciler.questions import ask_all
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)


class Settler:
    """Asks each node once a pass; a node that does not answer is asked again in the next."""

    def __init__(
        self,
        ledger: Ledger,
        connector: AgentConnector,
        notices: Notices,
        clock: Clock = utc_now,
    ) -> None:
        self._ledger = ledger
        self._connector = connector
        self._notices = notices
        self._clock = clock

    def settle(self, orphans: Iterable[Orphan]) -> None:
        """Settle what has ended, and follow what goes on."""
        ask_all(self._settle_one, orphans)

    def _settle_one(self, orphan: Orphan) -> None:
        attempt = orphan.assignment.attempt
        try:
            state = self._ask(orphan)
        except AgentUnreachable as error:
            log.warning("orphan_unreachable", load=attempt.load_id, reason=error.message)
            return
        except AgentRefused as refused:
            state = OperationState(None, Failed(refused.failure))
        try:
            self._write(attempt, state)
        except Superseded:
            log.info("orphan_settled_elsewhere", load=attempt.load_id)

    def _ask(self, orphan: Orphan) -> OperationState | None:
        assignment = orphan.assignment
        with self._connector.connect(
            assignment.node, orphan.agent_address, orphan.agent_certificate
        ) as client:
            return client.operation(assignment.attempt.load_id, assignment.attempt.number)

    def _write(self, attempt: Attempt, state: OperationState | None) -> None:
        with self._ledger.transaction() as session:
            now = self._clock()
            settled: Settled | None = None
            if state is None:
                settled = settle_lost(session, attempt, now)
            elif state.end is not None:
                settled = settle(session, attempt, state.end, now)
            elif state.progress is None or not _is_news(session, attempt, state.progress):
                return
            else:
                record_progress(session, attempt, state.progress, now, None)
        self._notices.changed([attempt.load_id])
        if settled is not None:
            log.info("orphan_settled", load=attempt.load_id, state=settled.state.value)


def _is_news(session: Session, attempt: Attempt, progress: Progress) -> bool:
    row = in_flight_row(session, attempt)
    return row.phase != progress.phase or row.percent < progress.percent
