"""Tells a node that an operation shall stop. Called by the worker, and again by the reconciler."""

from sqlalchemy import update

from fpga_bitstream_manager.agents import AgentConnector, AgentRefused, AgentUnreachable
from fpga_bitstream_manager.clock import Clock, utc_now
from fpga_bitstream_manager.ledger import Ledger
from fpga_bitstream_manager.ledger.loads import LoadRow
from fpga_bitstream_manager.loads.upkeep import Orphan, unasked_cancellations
from fpga_common.domain.load import LoadState
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)


class Canceller:
    """Asks until the node has answered once; whether it stops is told by the operation's end."""

    def __init__(self, ledger: Ledger, connector: AgentConnector, clock: Clock = utc_now) -> None:
        self._ledger = ledger
        self._connector = connector
        self._clock = clock

    def run(self, load_id: str) -> None:
        """Ask the node of a load that is cancelling."""
        with self._ledger.reading() as session:
            found = unasked_cancellations(session, load_id)
        for one in found:
            self.ask(one)

    def ask(self, orphan: Orphan) -> None:
        """Ask the node of one attempt; what fails is tried again by the reconciler."""
        assignment = orphan.assignment
        attempt = assignment.attempt
        try:
            with self._connector.connect(
                assignment.node, orphan.agent_address, orphan.agent_certificate
            ) as client:
                said = client.cancel(attempt.load_id, attempt.number, assignment.requested_by)
        except (AgentUnreachable, AgentRefused) as error:
            log.warning("cancel_not_delivered", load=attempt.load_id, reason=error.message)
            return
        log.info("cancel_delivered", load=attempt.load_id, answer=said)
        self._note(attempt.load_id, attempt.number)

    def _note(self, load_id: str, number: int) -> None:
        with self._ledger.transaction() as session:
            session.execute(
                update(LoadRow)
                .where(
                    LoadRow.id == load_id,
                    LoadRow.attempt == number,
                    LoadRow.state == LoadState.CANCELLING,
                )
                .values(cancel_asked_at=self._clock())
            )
