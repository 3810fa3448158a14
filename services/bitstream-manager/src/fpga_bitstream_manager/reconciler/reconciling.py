"""One pass over the ledger: each step repairs one kind of loss and may fail without the others."""

from collections.abc import Callable
from dataclasses import dataclass

from fpga_bitstream_manager.access.idempotency import forget_old
from fpga_bitstream_manager.agents import AgentConnector
from fpga_bitstream_manager.clock import Clock, utc_now
from fpga_bitstream_manager.ledger import Ledger, LedgerUnavailable
from fpga_bitstream_manager.loads.signals import Dispatcher, Notices
from fpga_bitstream_manager.loads.upkeep import (
    expire_overdue,
    mark_dispatched,
    orphans,
    unasked_cancellations,
    undelivered,
    wake_waiting,
)
from fpga_bitstream_manager.nodes.heartbeats import Heartbeats
from fpga_bitstream_manager.reconciler.questions import ask_all
from fpga_bitstream_manager.reconciler.settling import Settler
from fpga_bitstream_manager.reconciler.staleness import mark_stale
from fpga_bitstream_manager.tasks.cancelling import Canceller
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What the reconciler works with. ``tell_cluster`` returns at once; it is told elsewhere."""

    ledger: Ledger
    connector: AgentConnector
    dispatcher: Dispatcher
    notices: Notices
    heartbeats: Heartbeats
    clock: Clock = utc_now
    tell_cluster: Callable[[], None] | None = None

    def run_once(self) -> None:
        """One pass. A step that fails is tried again in the next pass."""
        steps: tuple[Callable[[], None], ...] = (
            self.mark_stale_nodes,
            self.expire,
            self.ask_cancellations,
            self.settle_orphans,
            self.wake,
            self.dispatch,
            self.forget_answers,
            *((self.tell_cluster,) if self.tell_cluster else ()),
        )
        for step in steps:
            try:
                step()
            except LedgerUnavailable as error:
                log.warning("reconciling_left", step=step.__name__, reason=error.message)
            # What repairs everything else must survive any mistake of its own.
            except Exception:
                log.exception("reconciling_broke", step=step.__name__)

    def mark_stale_nodes(self) -> None:
        """Nodes unheard of for 90 s; loads that waited for one that is back are woken."""
        heard = self.heartbeats.last_seen()  # before the transaction: Redis may take its time
        with self.ledger.transaction() as session:
            now = self.clock()
            turned = mark_stale(session, heard, now)
            woken = [
                load_id
                for node in turned.returned
                for load_id in wake_waiting(session, now, node=node)
            ]
        for node in turned.gone:
            log.warning("node_stale", node=node)
        for node in turned.returned:
            log.info("node_returned", node=node)
        self._tell("loads_woken", woken)

    def forget_answers(self) -> None:
        """Answers to idempotency keys that are not kept any longer."""
        with self.ledger.transaction() as session:
            forget_old(session, self.clock())

    def expire(self) -> None:
        """Loads past their deadline."""
        with self.ledger.transaction() as session:
            expired = expire_overdue(session, self.clock())
        self._tell("loads_expired", expired)

    def ask_cancellations(self) -> None:
        """Nodes that do not know yet that a load shall stop."""
        with self.ledger.reading() as session:
            found = unasked_cancellations(session)
        canceller = Canceller(self.ledger, self.connector, self.clock)
        ask_all(canceller.ask, found)

    def settle_orphans(self) -> None:
        """Attempts whose worker is silent."""
        with self.ledger.reading() as session:
            found = orphans(session, self.clock())
        Settler(self.ledger, self.connector, self.notices, self.clock).settle(found)

    def wake(self) -> None:
        """Waiting loads whose region looks free."""
        with self.ledger.transaction() as session:
            woken = wake_waiting(session, self.clock())
        self._tell("loads_woken", woken)

    def dispatch(self) -> None:
        """Queued loads without a message."""
        now = self.clock()
        with self.ledger.reading() as session:
            found = undelivered(session, now)
        sent = [load_id for load_id in found if self.dispatcher.run(load_id)]
        if sent:
            log.info("loads_dispatched", count=len(sent))
            with self.ledger.transaction() as session:
                mark_dispatched(session, sent, now)

    def _tell(self, words: str, load_ids: list[str]) -> None:
        if load_ids:
            log.info(words, loads=load_ids)
            self.notices.changed(load_ids)
