"""The console as a process: gunicorn with one worker of many threads. Called by ``cli``.

One process keeps one pool of connections to the manager; threads let pages that follow a load
hold a request each.
"""

import logging
from pathlib import Path
from typing import Any, Final

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.config import Config
from gunicorn.glogging import Logger

from fpga_common.observability.logging import configure_logging, get_logger
from fpga_web.app import create_app
from fpga_web.metrics import serve_metrics
from fpga_web.settings import WebSettings

STOP_SECONDS: Final = 3
log = get_logger(__name__)


class QuietLogger(Logger):  # type: ignore[misc]
    """Gunicorn's messages through the process's own format."""

    def setup(self, cfg: Config) -> None:
        """Leave errors to the root's handler; pages are logged by the application."""
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True
        self.error_log.setLevel(logging.WARNING)


class Console(BaseApplication):  # type: ignore[misc]
    """Gunicorn serving one Flask application with settings from our own file alone."""

    def __init__(self, settings: WebSettings, app: Flask) -> None:
        self._settings = settings
        self._app = app
        super().__init__()

    def load_config(self) -> None:
        """Hand our settings to gunicorn."""
        for name, value in gunicorn_options(self._settings).items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """The application, in the worker: threads are started here, not before the fork."""
        if self._settings.metrics.bind:
            serve_metrics(self._settings.metrics.bind)
        return self._app


def gunicorn_options(settings: WebSettings) -> dict[str, Any]:
    """Our settings in gunicorn's words."""
    return {
        "bind": settings.bind,
        "worker_class": "gthread",
        "workers": 1,
        "threads": settings.threads,
        "timeout": 60,
        "graceful_timeout": STOP_SECONDS,
        "forwarded_allow_ips": settings.trusted_proxies,
        "control_socket_disable": True,
        "worker_tmp_dir": "/dev/shm" if Path("/dev/shm").is_dir() else None,  # noqa: S108
        "logger_class": QuietLogger,
        "proc_name": "fpga-web",
    }


def run(settings: WebSettings) -> None:
    """Serve until a signal ends it. Raises InvalidConfiguration."""
    configure_logging(level=settings.log.level, log_format=settings.log.format)
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    app = create_app(settings)
    log.info("console_starting", bind=settings.bind, manager=settings.manager.url)
    Console(settings, app).run()
