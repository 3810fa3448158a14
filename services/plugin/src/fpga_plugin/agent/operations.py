"""All operations of the node: each is carried out once, one at a time a card.

Called by the gRPC servicer and by the composition root; carries out nothing itself, ``carry_out``
does, in a thread of the operation's own.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from fpga_common.domain.ids import InvalidId, card_of_region
from fpga_common.domain.operation import Failure, FailureCode
from fpga_common.observability.logging import get_logger
from fpga_plugin.agent.events import (
    InvalidRequest,
    OperationEvent,
    OperationRequest,
    require_operation_id,
)
from fpga_plugin.agent.journal import Journal, OperationLog, StoredOperation
from fpga_plugin.agent.operation import Operation, first_event
from fpga_plugin.failures import OperationFailed, operation_failed

log = get_logger(__name__)

CarryOut = Callable[[Operation], str]
"""Carries an operation out and returns the AFU id read back. Raises OperationFailed."""


class OperationObserver(Protocol):
    """Who counts ended operations."""

    def operation_ended(self, outcome: str, seconds: float) -> None:
        """``outcome`` is ``ok`` or a failure's code."""


@dataclass(frozen=True, slots=True)
class CancelAnswer:
    """Whether a cancel was still possible."""

    accepted: bool
    message: str


class Operations:
    """The registry of running operations in front of the journal."""

    def __init__(self, journal: Journal, carry_out: CarryOut, observer: OperationObserver) -> None:
        self._journal = journal
        self._carry_out = carry_out
        self._observer = observer
        self._lock = threading.Lock()
        self._running: dict[str, Operation] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._stopping = False

    def program(self, request: OperationRequest) -> Operation | StoredOperation:
        """Start an operation, attach to it, or return its stored end.

        Raises:
            OperationFailed: region_unknown, card_busy, shutting_down, or internal where the journal
                cannot be written; nothing was accepted or recorded.
            InvalidRequest: the id belongs to an operation on something else.
        """
        require_operation_id(request.operation_id)
        _require_region_id(request)
        with self._lock:
            known = self._find(request.operation_id)
            if known is not None:
                if known.request.region_id:  # else its record is damaged
                    _require_same(known.request, request)
                return known
            self._require_free(request)
            return self._start(request)

    def find(self, operation_id: str) -> Operation | StoredOperation | None:
        """A running or an ended operation, None where it was never accepted."""
        require_operation_id(operation_id)
        with self._lock:
            return self._find(operation_id)

    def cancel(self, operation_id: str, requested_by: str) -> CancelAnswer | None:
        """Ask an operation to end before it writes; None where it was never accepted."""
        operation = self.find(operation_id)
        if operation is None:
            return None
        if isinstance(operation, StoredOperation):
            return CancelAnswer(accepted=False, message="the operation has ended")
        failure = Failure(FailureCode.CANCELLED, f"cancelled by {requested_by or 'unknown'}")
        if operation.request_stop(failure):
            return CancelAnswer(accepted=True, message="cancelling")
        return CancelAnswer(accepted=False, message="the write has begun and cannot be stopped")

    def running_count(self) -> int:
        """How many operations have not ended."""
        with self._lock:
            return len(self._threads)

    def stop(self, seconds: float) -> bool:
        """Accept nothing more, stop what has not begun to write, wait for the writes.

        Returns whether all ended within ``seconds``.
        """
        with self._lock:
            self._stopping = True
            threads = list(self._threads.values())
            operations = list(self._running.values())
        for operation in operations:
            operation.request_stop(Failure(FailureCode.SHUTTING_DOWN, "the node plugin is ending"))
        deadline = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _find(self, operation_id: str) -> Operation | StoredOperation | None:
        return self._running.get(operation_id) or self._journal.find(operation_id)

    def _require_free(self, request: OperationRequest) -> None:
        if self._stopping:
            raise operation_failed(FailureCode.SHUTTING_DOWN, "the node plugin is ending")
        for other in self._running.values():
            if other.request.card_id == request.card_id and not other.ended:
                raise operation_failed(
                    FailureCode.CARD_BUSY,
                    f"card {request.card_id} is taken by operation {other.request.operation_id}",
                    expected="no other operation on the card",
                    actual=other.request.operation_id,
                )

    def _start(self, request: OperationRequest) -> Operation:
        accepted = first_event(request)
        operation = Operation(request, self._begin(request, accepted), (accepted,))
        thread = threading.Thread(
            target=self._run, args=(operation,), name=f"operation-{request.operation_id}"
        )
        thread.daemon = True
        self._running[request.operation_id] = operation
        self._threads[request.operation_id] = thread
        thread.start()
        return operation

    def _begin(self, request: OperationRequest, accepted: OperationEvent) -> OperationLog:
        try:
            return self._journal.begin(request, accepted)
        except OSError as error:
            raise operation_failed(
                FailureCode.INTERNAL, f"the node cannot record the operation: {error}"
            ) from error

    def _run(self, operation: Operation) -> None:
        started = time.monotonic()
        _carry_to_end(operation, self._carry_out)
        failure = operation.last.failure
        outcome = failure.code.value if failure else "ok"
        log.info(
            "operation_ended",
            operation_id=operation.request.operation_id,
            region=operation.request.region_id,
            outcome=outcome,
            message=operation.last.message,
            requested_by=operation.request.requested_by,
        )
        self._observer.operation_ended(outcome, time.monotonic() - started)
        with self._lock:
            self._threads.pop(operation.request.operation_id, None)
            if operation.end_recorded:
                self._running.pop(operation.request.operation_id, None)


def _carry_to_end(operation: Operation, carry_out: CarryOut) -> None:
    try:
        afu_id = carry_out(operation)
        operation.succeed(afu_id, f"verified: {operation.request.region_id} shows {afu_id}")
    except OperationFailed as ended:
        operation.fail(ended.failure)
    # An operation must have an end, whatever went wrong in it.
    except Exception as error:
        log.exception("operation_broke", operation_id=operation.request.operation_id)
        operation.fail(Failure(FailureCode.INTERNAL, f"{type(error).__name__}: {error}"))


def _require_region_id(request: OperationRequest) -> None:
    try:
        card_of_region(request.region_id)
    except InvalidId as error:
        raise operation_failed(
            FailureCode.REGION_UNKNOWN, error.message, expected=error.expected, actual=error.actual
        ) from error


def _require_same(known: OperationRequest, request: OperationRequest) -> None:
    mine, theirs = (
        (known.region_id, known.bitstream.digest),
        (
            request.region_id,
            request.bitstream.digest,
        ),
    )
    if mine != theirs:
        raise InvalidRequest(
            f"operation_id: {request.operation_id} is another operation",
            expected=" ".join(mine),
            actual=" ".join(theirs),
        )
