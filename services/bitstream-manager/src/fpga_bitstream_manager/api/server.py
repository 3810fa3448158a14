"""The API's process: gunicorn with one worker and threads, plain or TLS. Called by ``cli``.

One worker, because metrics and the pause between heartbeats are kept in its memory; requests wait
for the ledger and the network, not for the processor.
"""

import logging
import signal
import sys
import threading
from types import FrameType
from typing import Any, Final

from apiflask import APIFlask
from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger
from prometheus_client import start_http_server

from fpga_bitstream_manager.api.app import create_app
from fpga_bitstream_manager.api.connections import PatientWorker
from fpga_bitstream_manager.ledger.migration import wait_until_current
from fpga_bitstream_manager.services import Services
from fpga_bitstream_manager.settings import ManagerSettings
from fpga_common.observability.logging import get_logger
from fpga_common.settings.addresses import split_address

log = get_logger(__name__)

GRACE_SECONDS: Final = 3
REQUEST_TIMEOUT_SECONDS: Final = 600
KEEPALIVE_SECONDS: Final = 30


class StructuredLogger(Logger):  # type: ignore[misc]  # gunicorn has no types
    """Gunicorn's words through the process's own handlers."""

    def setup(self, cfg: Any) -> None:
        """Leave handlers and levels alone."""
        self.error_log.propagate = True
        self.access_log.propagate = False
        self.error_log.setLevel(logging.INFO)

    def exception(self, msg: str, *args: Any, **kwargs: Any) -> None:
        """Called by gunicorn, also for a client that went silent: that is no fault of ours."""
        if isinstance(sys.exc_info()[1], TimeoutError):
            log.info("client_silent")
            return
        super().exception(msg, *args, **kwargs)


class ApiServer(BaseApplication):  # type: ignore[misc]
    """Gunicorn, configured from the settings and from nothing else."""

    def __init__(self, settings: ManagerSettings) -> None:
        self._settings = settings
        self._services: Services | None = None
        super().__init__()

    def load_config(self) -> None:
        """Called by gunicorn."""
        api = self._settings.api
        options: dict[str, Any] = {
            "bind": api.bind,
            "worker_class": PatientWorker,
            "workers": 1,
            "threads": api.threads,
            "timeout": REQUEST_TIMEOUT_SECONDS,
            "graceful_timeout": GRACE_SECONDS,
            "keepalive": KEEPALIVE_SECONDS,
            "logger_class": StructuredLogger,
            "control_socket_disable": True,
            "post_worker_init": self._started,
            "worker_exit": self._ended,
        }
        if api.tls:
            options |= {"certfile": api.tls_cert_file, "keyfile": api.tls_key_file}
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> APIFlask:
        """The application; called in the worker, after the fork."""
        self._services = Services.open(self._settings)
        return create_app(self._services)

    def _started(self, _worker: Any) -> None:
        services = self._services
        if services is None:
            return
        _close_streams_on_signal(services.stopping)
        arguments = (services.ledger, services.stopping)
        threading.Thread(
            target=wait_until_current, args=arguments, name="ledger-wait", daemon=True
        ).start()
        if self._settings.metrics.bind:
            host, port = split_address(self._settings.metrics.bind)
            start_http_server(port, host, registry=services.registry)
        cleared = services.blobs.clear_leftovers()
        log.info(
            "api_started",
            leftovers_cleared=cleared,
            bind=self._settings.api.bind,
            tls=self._settings.api.tls,
        )

    def _ended(self, _arbiter: Any, _worker: Any) -> None:
        if self._services is not None:
            self._services.close()
            log.info("api_stopped")


def run(settings: ManagerSettings) -> int:
    """Serve until SIGTERM or SIGINT. Gunicorn ends the process itself, with exit code 0."""
    if not settings.api.tls and not settings.api.bind.startswith(("127.", "localhost:", "[::1]:")):
        log.warning("api_without_tls", bind=settings.api.bind)
    ApiServer(settings).run()
    return 0


def _close_streams_on_signal(stopping: threading.Event) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        before = signal.getsignal(number)

        def stop(received: int, frame: FrameType | None, before: Any = before) -> None:
            stopping.set()
            if callable(before):
                before(received, frame)

        signal.signal(number, stop)
