"""One running operation: its events, who follows them, and whether it may still be stopped.

The thread that carries it out calls ``enter``, ``progress``, ``begin_write``; any number of gRPC
threads ``follow``; ``request_stop`` comes from a cancel or from the end of the process.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

from fpga_common.domain.operation import Failure, FailureCode, Phase
from fpga_common.observability.logging import get_logger
from fpga_plugin.agent.events import OperationEvent, OperationRequest
from fpga_plugin.agent.journal import OperationLog
from fpga_plugin.agent.percent import overall_percent
from fpga_plugin.failures import OperationFailed, operation_failed

PERCENT_STEP: Final = 1.0
"""A progress event says at least this much more than the one before."""

_FOLLOW_SECONDS: Final = 1.0

log = get_logger(__name__)


def first_event(request: OperationRequest) -> OperationEvent:
    """The event that says that the node took the operation on."""
    return OperationEvent(1, Phase.ACCEPTED, 0.0, f"accepted for {request.region_id}", _now_ms())


class Operation:
    """An operation between its acceptance and its end."""

    def __init__(
        self, request: OperationRequest, journal: OperationLog, events: tuple[OperationEvent, ...]
    ) -> None:
        self.request = request
        self._journal = journal
        self._events = list(events)
        self._changed = threading.Condition()
        self._stop: Failure | None = None
        self._writing = False
        self.end_recorded = False

    @property
    def last(self) -> OperationEvent:
        """Its newest event."""
        return self._events[-1]

    @property
    def ended(self) -> bool:
        """Whether nothing can follow."""
        return self.last.phase.ended

    def enter(self, phase: Phase, message: str) -> None:
        """Begin a phase. Raises OSError when the journal cannot record it."""
        self._publish(phase, 0.0, message)

    def note(self, message: str) -> None:
        """Say something more about the phase it is in."""
        self._publish_lossy(self.last.phase, 0.0, message)

    def progress(self, fraction: float) -> None:
        """Tell how far the phase is, 0 to 1; a full disk does not stop what is under way."""
        last = self.last
        if (
            overall_percent(last.phase, fraction, before=last.percent)
            >= last.percent + PERCENT_STEP
        ):
            self._publish_lossy(last.phase, fraction, last.message)

    def require_running(self) -> None:
        """Raise OperationFailed if it was cancelled, its time is up or the process ends."""
        if self._stop is not None:
            raise OperationFailed(self._stop)
        if self.remaining_seconds() <= 0:
            raise operation_failed(
                FailureCode.DEADLINE_EXCEEDED, "the load's deadline passed before the write began"
            )

    def remaining_seconds(self) -> float:
        """Seconds to its deadline, infinite without one."""
        deadline = self.request.deadline
        return float("inf") if deadline is None else deadline - time.time()

    def begin_write(self, message: str) -> None:
        """Pass the point after which nothing stops it. Raises OperationFailed if stopped before."""
        with self._changed:
            self.require_running()
            self._writing = True
        self._publish(Phase.PROGRAMMING, 0.0, message)

    def request_stop(self, failure: Failure) -> bool:
        """Ask it to end with ``failure``; False when the write has begun or it has ended."""
        with self._changed:
            if self._writing or self.ended:
                return False
            self._stop = self._stop or failure
            self._changed.notify_all()
            return True

    def wait_stop(self, seconds: float) -> None:
        """Pause between two polls, at most until the operation must end. Raises as above."""
        deadline = time.monotonic() + min(seconds, max(0.0, self.remaining_seconds()))
        with self._changed:
            while self._stop is None and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
        self.require_running()

    def succeed(self, afu_id: str, message: str) -> None:
        """End it well, with the AFU that was read back."""
        self._end(Phase.DONE, message, afu_id=afu_id)

    def fail(self, failure: Failure) -> None:
        """End it with a failure."""
        self._end(Phase.FAILED, failure.message, failure=failure)

    def follow(self, alive: Callable[[], bool]) -> Iterator[OperationEvent]:
        """Every event from the first to the end, as they come, while ``alive()``."""
        position = 0
        while True:
            with self._changed:
                while position >= len(self._events) and alive():
                    self._changed.wait(_FOLLOW_SECONDS)
                fresh = self._events[position:]
            if not fresh:
                return
            yield from fresh
            position += len(fresh)
            if fresh[-1].phase.ended:
                return

    def wake(self) -> None:
        """Make followers look again at whether they are alive."""
        with self._changed:
            self._changed.notify_all()

    def _end(
        self,
        phase: Phase,
        message: str,
        *,
        failure: Failure | None = None,
        afu_id: str | None = None,
    ) -> None:
        event = self._next(phase, 1.0, message, failure=failure, afu_id=afu_id)
        self.end_recorded = self._record_lossy(event)
        self._show(event)

    def _publish(self, phase: Phase, fraction: float, message: str) -> None:
        event = self._next(phase, fraction, message)
        self._journal.append(event)
        self._show(event)

    def _publish_lossy(self, phase: Phase, fraction: float, message: str) -> None:
        event = self._next(phase, fraction, message)
        self._record_lossy(event)
        self._show(event)

    def _record_lossy(self, event: OperationEvent) -> bool:
        try:
            self._journal.append(event)
        except OSError:
            log.exception("operation_not_recorded", operation_id=self.request.operation_id)
            return False
        return True

    def _next(
        self,
        phase: Phase,
        fraction: float,
        message: str,
        *,
        failure: Failure | None = None,
        afu_id: str | None = None,
    ) -> OperationEvent:
        last = self.last
        percent = overall_percent(phase, fraction, before=last.percent)
        return OperationEvent(
            last.sequence + 1, phase, round(percent, 1), message, _now_ms(), failure, afu_id
        )

    def _show(self, event: OperationEvent) -> None:
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
