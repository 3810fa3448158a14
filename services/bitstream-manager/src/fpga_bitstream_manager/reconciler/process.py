"""The reconciler's process: a plain loop that holds a lease. Called by ``cli``."""

import os
import signal
import socket
import threading
from types import FrameType
from typing import Final

from prometheus_client import start_http_server

from fpga_bitstream_manager.agents import AgentConnector
from fpga_bitstream_manager.cluster import open_cluster
from fpga_bitstream_manager.ledger import Ledger, LedgerUnavailable
from fpga_bitstream_manager.ledger.migration import wait_until_current
from fpga_bitstream_manager.memory import open_redis
from fpga_bitstream_manager.nodes.heartbeats import Heartbeats
from fpga_bitstream_manager.reconciler.cluster_round import ClusterRound, ClusterTeller
from fpga_bitstream_manager.reconciler.lease import ReconcilerLease
from fpga_bitstream_manager.reconciler.reconciling import Reconciliation
from fpga_bitstream_manager.settings import ManagerSettings
from fpga_bitstream_manager.tasks.app import sending_app
from fpga_bitstream_manager.tasks.dispatching import CeleryDispatcher
from fpga_bitstream_manager.tasks.notices import RedisNotices
from fpga_common.observability.logging import get_logger
from fpga_common.settings.addresses import split_address

log = get_logger(__name__)

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


def run_reconciler(settings: ManagerSettings) -> int:
    """Reconcile until SIGTERM or SIGINT. Raises InvalidConfiguration."""
    stopping = threading.Event()
    _stop_on_signals(stopping)
    ledger = Ledger(settings.database.url, busy_seconds=settings.database.busy_seconds)
    redis = open_redis(settings.redis)
    teller = _cluster_teller(settings, ledger)
    reconciliation = Reconciliation(
        ledger=ledger,
        connector=AgentConnector(settings.agent),
        dispatcher=CeleryDispatcher(sending_app(settings)),
        notices=RedisNotices(redis),
        heartbeats=Heartbeats(redis, ledger),
        tell_cluster=teller.ask if teller else None,
    )
    lease = ReconcilerLease(ledger, f"{socket.gethostname()}:{os.getpid()}")
    _serve_metrics(settings)
    try:
        if wait_until_current(ledger, stopping):
            _loop(reconciliation, lease, stopping, settings.reconciler.interval_seconds)
    finally:
        if teller:
            teller.stop()
        redis.close()
        ledger.close()
        log.info("reconciler_stopped")
    return 0


def _cluster_teller(settings: ManagerSettings, ledger: Ledger) -> ClusterTeller | None:
    if not settings.kubernetes.enabled:
        return None
    return ClusterTeller(ClusterRound(ledger, open_cluster(settings.kubernetes))).start()


def _loop(
    reconciliation: Reconciliation,
    lease: ReconcilerLease,
    stopping: threading.Event,
    interval: float,
) -> None:
    log.info("reconciler_started", interval_seconds=interval)
    acting = False
    while not stopping.is_set():
        held = _try_acquire(lease)
        if held != acting:
            log.info("reconciler_acts" if held else "reconciler_stands_by")
            acting = held
        if held:
            reconciliation.run_once()
        stopping.wait(interval)
    if acting:
        _release(lease)


def _try_acquire(lease: ReconcilerLease) -> bool:
    try:
        return lease.acquire()
    except LedgerUnavailable as error:
        log.warning("waiting_for_ledger", reason=error.message)
        return False


def _release(lease: ReconcilerLease) -> None:
    try:
        lease.release()
    except LedgerUnavailable as error:
        log.warning("lease_not_released", reason=error.message)


def _stop_on_signals(stopping: threading.Event) -> None:
    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    for number in STOP_SIGNALS:
        signal.signal(number, stop)


def _serve_metrics(settings: ManagerSettings) -> None:
    if settings.metrics.bind:
        host, port = split_address(settings.metrics.bind)
        start_http_server(port, host)
