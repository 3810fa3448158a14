"""Work that is done again and again in a thread of its own, and may hang.

The store uses one for discovery and one a card. A run that does not return within the deadline is
abandoned: its result will be thrown away, and after a growing pause another thread tries again. At
most ``ABANDONED_LIMIT`` threads of one work hang at a time.
"""

import threading
import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

Value = TypeVar("Value")

ABANDONED_LIMIT: Final = 4
FAILED_PAUSE_SECONDS: Final = 1.0
FIRST_RETRY_SECONDS: Final = 2.0
LONGEST_RETRY_SECONDS: Final = 60.0


class Repeating(Generic[Value]):
    """Runs ``work``, hands the result to ``finished`` and pauses for what that returns, in seconds.

    ``overdue`` is called once for each run that hangs, by whoever calls ``supervise``. What raises
    is logged and done again after a pause.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], Value],
        *,
        finished: Callable[[Value], float],
        overdue: Callable[[], None],
        deadline_seconds: float,
    ) -> None:
        self._name = name
        self._work = work
        self._finished = finished
        self._overdue = overdue
        self._deadline = deadline_seconds
        self._changed = threading.Condition()
        self._generation = 0
        self._abandoned = 0
        self._begun = 0
        self._ended = 0
        self._began_at: float | None = None
        self._retry_at: float | None = None
        self._retry_pause = FIRST_RETRY_SECONDS
        self._asked = False
        self._stopped = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin the first run."""
        with self._changed:
            self._start_thread()

    def stop(self) -> None:
        """Let no further run begin."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def join(self, timeout: float) -> None:
        """Wait for the thread's end, at most ``timeout`` seconds; a hanging one is left behind."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def wake(self) -> None:
        """Begin the next run without further pause."""
        with self._changed:
            self._asked = True
            self._changed.notify_all()

    def run_now(self, timeout: float) -> bool:
        """Whether a run that began after this call ended within ``timeout`` seconds."""
        with self._changed:
            wanted = self._begun + 1
            self._asked = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._ended >= wanted or self._stopped, timeout)

    def wait_for_first(self, timeout: float) -> bool:
        """Whether a run ended within ``timeout`` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self._ended > 0, timeout)

    def supervise(self) -> None:
        """Abandon a run that is overdue, and try again when it is time."""
        with self._changed:
            newly_overdue = self._abandon_if_overdue()
            self._retry_if_due()
        if newly_overdue:
            self._overdue()

    def _abandon_if_overdue(self) -> bool:
        if self._began_at is None or time.monotonic() - self._began_at < self._deadline:
            return False
        self._generation += 1
        self._abandoned += 1
        self._began_at = None
        self._retry_at = time.monotonic() + self._retry_pause
        self._retry_pause = min(2 * self._retry_pause, LONGEST_RETRY_SECONDS)
        return True

    def _retry_if_due(self) -> None:
        due = self._retry_at is not None and (self._asked or time.monotonic() >= self._retry_at)
        if due and self._abandoned < ABANDONED_LIMIT and not self._stopped:
            self._retry_at = None
            self._start_thread()

    def _start_thread(self) -> None:
        self._thread = threading.Thread(
            target=self._run, args=(self._generation,), name=self._name, daemon=True
        )
        self._thread.start()

    def _run(self, generation: int) -> None:
        while self._begin(generation):
            value = self._attempt()
            if not self._is_current(generation):
                return
            self._pause(self._finish(value))

    def _attempt(self) -> Value | None:
        try:
            return self._work()
        except Exception:  # one bad card or file must not end its own watching
            log.exception("repeated_work_failed", work=self._name)
            return None

    def _finish(self, value: Value | None) -> float:
        try:
            return FAILED_PAUSE_SECONDS if value is None else self._finished(value)
        except Exception:  # as above
            log.exception("repeated_work_failed", work=self._name)
            return FAILED_PAUSE_SECONDS
        finally:
            self._end()

    def _begin(self, generation: int) -> bool:
        with self._changed:
            if self._stopped or generation != self._generation:
                return False
            self._begun += 1
            self._asked = False
            self._began_at = time.monotonic()
            return True

    def _is_current(self, generation: int) -> bool:
        """Whether the run was not abandoned; from here on it no longer can be."""
        with self._changed:
            if generation == self._generation:
                self._began_at = None
                return True
            self._abandoned -= 1
            return False

    def _end(self) -> None:
        with self._changed:
            self._ended = self._begun
            self._retry_pause = FIRST_RETRY_SECONDS
            self._changed.notify_all()

    def _pause(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._asked or self._stopped, seconds)
