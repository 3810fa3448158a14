"""Sends messages to workers; while Redis is away it says so once and tries again every second."""

import threading
import time
from typing import Final

from celery import Celery
from kombu.exceptions import OperationalError

from fpga_bitstream_manager.tasks.app import CANCEL_LOAD, RUN_LOAD
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

AWAY_SECONDS: Final = 1.0


class Absence:
    """Remembers that Redis is away, so that not everybody waits for it."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._until = 0.0
        self._away = False
        self._lock = threading.Lock()

    @property
    def expected(self) -> bool:
        """Whether asking again is not worth the wait yet."""
        return time.monotonic() < self._until

    def begin(self, reason: str) -> None:
        """Redis did not answer."""
        with self._lock:
            self._until = time.monotonic() + AWAY_SECONDS
            if not self._away:
                self._away = True
                log.warning("redis_unavailable", use=self._what, reason=reason)

    def end(self) -> None:
        """Redis answered."""
        with self._lock:
            if self._away:
                self._away = False
                log.info("redis_available", use=self._what)


class CeleryDispatcher:
    """``fpga_bitstream_manager.loads.signals.Dispatcher`` over Celery."""

    def __init__(self, app: Celery) -> None:
        self._app = app
        self._absence = Absence("queue")

    def run(self, load_id: str) -> bool:
        """Have the load's card worked on."""
        return self._send(RUN_LOAD, load_id)

    def cancel(self, load_id: str) -> bool:
        """Have the load's node told to stop."""
        return self._send(CANCEL_LOAD, load_id)

    def _send(self, task: str, load_id: str) -> bool:
        if self._absence.expected:
            return False
        try:
            self._app.send_task(task, (load_id,), retry=False, ignore_result=True)
        except (OperationalError, OSError) as error:
            self._absence.begin(str(error))
            return False
        self._absence.end()
        return True
