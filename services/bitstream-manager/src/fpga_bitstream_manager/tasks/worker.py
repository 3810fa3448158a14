"""The worker's process: Celery with a thread pool, our signals, our log, patience with Redis."""

import logging
import os
import signal
import socket
import threading
import warnings
from types import FrameType
from typing import Any, Final

from celery import Celery, signals
from celery.apps.worker import Worker
from celery.exceptions import SecurityWarning
from celery.worker import state
from celery.worker.consumer import Consumer
from celery.worker.state import maybe_shutdown
from prometheus_client import start_http_server

from fpga_bitstream_manager.agents import AgentConnector
from fpga_bitstream_manager.ledger import Ledger, LedgerUnavailable
from fpga_bitstream_manager.ledger.migration import wait_until_current
from fpga_bitstream_manager.memory import open_redis
from fpga_bitstream_manager.settings import ManagerSettings
from fpga_bitstream_manager.tasks.app import CANCEL_LOAD, RUN_LOAD, make_app
from fpga_bitstream_manager.tasks.cancelling import Canceller
from fpga_bitstream_manager.tasks.execution import Executor, Means
from fpga_bitstream_manager.tasks.leases import Leases
from fpga_bitstream_manager.tasks.notices import RedisNotices
from fpga_common.observability.logging import get_logger
from fpga_common.settings.addresses import split_address

log = get_logger(__name__)

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_FIRST_RETRY_SECONDS: Final = 0.2
_LONGEST_RETRY_SECONDS: Final = 1.0


def run_worker(settings: ManagerSettings) -> int:
    """Work until SIGTERM or SIGINT. Raises InvalidConfiguration."""
    ledger = Ledger(settings.database.url, busy_seconds=settings.database.busy_seconds)
    app = make_app(settings)
    redis = open_redis(settings.redis)
    leases = Leases(ledger)
    connector = AgentConnector(settings.agent)
    notices = RedisNotices(redis)
    means = Means(
        ledger=ledger,
        connector=connector,
        notices=notices,
        leases=leases,
        worker=worker_name(),
    )
    executor = Executor(means)
    _define_tasks(app, executor, Canceller(ledger, connector))
    _stop_on_signals(leases)
    _serve_metrics(settings)
    try:
        return _work(app, ledger, leases, executor, settings.worker.threads)
    finally:
        leases.stop()
        redis.close()
        ledger.close()
        log.info("worker_stopped")


def worker_name() -> str:
    """This process, as attempts name it."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _work(app: Celery, ledger: Ledger, leases: Leases, executor: Executor, threads: int) -> int:
    if not wait_until_current(ledger, leases.stopping):
        return 0
    _warm_up(executor)
    leases.start()
    _quieten_celery()
    worker = PatientWorker(
        app=app,
        hostname=f"manager@{worker_name()}",
        pool="threads",
        concurrency=threads,
        consumer_cls=PatientConsumer,
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    log.info("worker_started", threads=threads)
    worker.start()
    return int(worker.exitcode or 0)


def _warm_up(executor: Executor) -> None:
    try:
        executor.warm_up()
    except LedgerUnavailable as error:  # then the first load is a little slower
        log.info("not_warmed_up", reason=error.message)


def _define_tasks(app: Celery, executor: Executor, canceller: Canceller) -> None:
    @app.task(name=RUN_LOAD)
    def run_load(load_id: str) -> None:
        try:
            executor.run(load_id)
        except LedgerUnavailable as error:  # the reconciler sends another message
            log.warning("load_left", load=load_id, reason=error.message)

    @app.task(name=CANCEL_LOAD)
    def cancel_load(load_id: str) -> None:
        try:
            canceller.run(load_id)
        except LedgerUnavailable as error:  # the reconciler asks the node as well
            log.warning("cancel_left", load=load_id, reason=error.message)


class PatientWorker(Worker):
    """Celery's worker without its banner, its signal handlers and its process title."""

    def install_platform_tweaks(self, worker: Any) -> None:
        """Leave the signals to ``_stop_on_signals``."""

    def set_process_status(self, info: str) -> None:
        """Leave the process list alone."""

    def on_consumer_ready(self, consumer: Any) -> None:
        """Redis answers."""
        super().on_consumer_ready(consumer)
        log.info("worker_ready")


class PatientConsumer(Consumer):
    """Waits for Redis as long as it takes, asks at least once a second, and says so."""

    def ensure_connected(self, conn: Any) -> Any:
        """Called by Celery for the first and for every later connection."""

        def say(error: BaseException, _interval: float) -> None:
            log.warning("waiting_for_redis", reason=str(error))

        connection = conn.ensure_connection(
            say,
            None,
            interval_start=_FIRST_RETRY_SECONDS,
            interval_step=_FIRST_RETRY_SECONDS,
            interval_max=_LONGEST_RETRY_SECONDS,
            callback=maybe_shutdown,
        )
        self.first_connection_attempt = False
        return connection

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Called by Celery before it connects again."""
        log.warning("redis_connection_lost", reason=str(exc))
        super().on_connection_error_after_connected(exc)


def _quieten_celery() -> None:
    warnings.filterwarnings("ignore", category=SecurityWarning)  # in a container root is harmless
    signals.setup_logging.connect(_keep_our_logging, weak=False)
    for name in ("celery", "kombu"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("celery.worker.consumer.consumer").setLevel(logging.ERROR)


def _keep_our_logging(**_: Any) -> None:
    """Celery configures no logging where somebody listens to this signal."""


def _stop_on_signals(leases: Leases) -> None:
    """Take no more messages, stop listening to nodes; the reconciler settles what runs."""

    def stop(number: int, _frame: FrameType | None) -> None:
        state.should_stop = os.EX_OK  # type: ignore[assignment]
        leases.stopping.set()
        threading.Thread(target=leases.stop, name="worker-stop", daemon=True).start()

    for number in STOP_SIGNALS:
        signal.signal(number, stop)


def _serve_metrics(settings: ManagerSettings) -> None:
    if settings.metrics.bind:
        host, port = split_address(settings.metrics.bind)
        start_http_server(port, host)
