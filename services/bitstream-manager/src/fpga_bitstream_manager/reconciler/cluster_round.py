"""Tells the cluster what nodes report: one round of Events and labels, on a thread of its own.

Made by ``process`` where Kubernetes is enabled, asked for by each pass of the reconciler. An API
server that hangs holds up this thread alone.
"""

import threading
import time
from datetime import datetime, timedelta
from typing import Final

from fpga_bitstream_manager.clock import Clock, utc_now
from fpga_bitstream_manager.cluster import Cluster, ClusterRefused, ClusterUnavailable
from fpga_bitstream_manager.ledger import Ledger, LedgerUnavailable
from fpga_bitstream_manager.reconciler.cluster_views import changed_nodes
from fpga_bitstream_manager.reconciler.node_events import NodeEvents
from fpga_bitstream_manager.reconciler.node_labels import NodeLabels
from fpga_common.domain.errors import FpgaError, InvalidConfiguration
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

ROUND_SECONDS: Final = 10.0
AWAY_SECONDS: Final = 5.0
STOP_SECONDS: Final = 2.0
#: A report's time is taken before it is committed, so changes are looked for twice.
OVERLAP: Final = timedelta(seconds=60)


class ClusterRound:
    """What is told, and whether the API server hears it. ``away_seconds`` is the pause after no."""

    def __init__(
        self,
        ledger: Ledger,
        cluster: Cluster,
        clock: Clock = utc_now,
        *,
        away_seconds: float = AWAY_SECONDS,
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._events = NodeEvents(ledger, cluster, clock)
        self._labels = NodeLabels(ledger, cluster)
        self._away_seconds = away_seconds
        self._pause_until = 0.0
        self._trouble: str | None = None
        self._looked_from: datetime | None = None

    def run_once(self) -> None:
        """Write down what changed, then tell it unless the API server was away a moment ago.

        Raises LedgerUnavailable.
        """
        self._note_changes()
        if time.monotonic() < self._pause_until:
            return
        deadline = time.monotonic() + ROUND_SECONDS
        try:
            self._events.send(deadline)
            self._labels.update(deadline)
        except (ClusterUnavailable, ClusterRefused, InvalidConfiguration) as error:
            self._begin_trouble(error)
        else:
            self._end_trouble()

    def _note_changes(self) -> None:
        started = self._clock()
        with self._ledger.reading() as session:
            nodes = changed_nodes(session, self._looked_from)
        self._events.record(nodes)
        self._labels.note_changed(nodes)
        self._looked_from = started - OVERLAP

    def _begin_trouble(self, error: FpgaError) -> None:
        self._pause_until = time.monotonic() + self._away_seconds
        if self._trouble != error.code:
            self._trouble = error.code
            log.warning("cluster_not_told", code=error.code, reason=error.message)

    def _end_trouble(self) -> None:
        if self._trouble is not None:
            self._trouble = None
            log.info("cluster_told_again")


class ClusterTeller:
    """Runs rounds on its thread, each when it was asked for; never two at a time."""

    def __init__(self, rounds: ClusterRound) -> None:
        self._rounds = rounds
        self._wanted = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="cluster-teller", daemon=True)

    def start(self) -> "ClusterTeller":
        """Wait for ``ask``."""
        self._thread.start()
        return self

    def ask(self) -> None:
        """Have a round run soon; returns at once."""
        self._wanted.set()

    def stop(self) -> None:
        """End after the request that is under way, or leave that behind after 2 s."""
        self._stopping.set()
        self._wanted.set()
        self._thread.join(timeout=STOP_SECONDS)

    def _serve(self) -> None:
        while True:
            self._wanted.wait()
            if self._stopping.is_set():
                return
            self._wanted.clear()
            self._run()

    def _run(self) -> None:
        try:
            self._rounds.run_once()
        except LedgerUnavailable as error:
            log.warning("reconciling_left", step="tell_cluster", reason=error.message)
        # The thread must survive any mistake of its own, as the reconciler does.
        except Exception:
            log.exception("reconciling_broke", step="tell_cluster")
