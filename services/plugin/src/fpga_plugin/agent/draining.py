"""Waits until nobody has a region and nobody can get it. Called by ``agent.handover``.

The kubelet is asked, never assumed: when it cannot be asked the region counts as held.
"""

import time
from dataclasses import dataclass
from typing import Final

from fpga_common.domain.errors import Temporary
from fpga_common.domain.operation import FailureCode
from fpga_common.observability.logging import get_logger
from fpga_plugin.agent.operation import Operation
from fpga_plugin.agent.ports import DeviceHolder, HolderSource
from fpga_plugin.failures import OperationFailed, operation_failed

POLL_SECONDS: Final = 0.02
CALL_SECONDS: Final = 2.0

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Drain:
    """Asks who holds a region; ``seconds`` is how long the kubelet has to let go of it."""

    holders: HolderSource
    seconds: float

    def require_unheld(self, operation: Operation) -> None:
        """Raise OperationFailed(region_held) if the region is held and the load is not forced.

        A kubelet that cannot be asked is left to ``wait_until_free``.
        """
        try:
            holder = self._holder(operation)
        except Temporary as error:
            log.info("holder_unknown", region=operation.request.region_id, reason=error.message)
            return
        if holder is not None and not operation.request.force:
            raise _held(operation.request.region_id, holder)

    def wait_until_free(self, operation: Operation) -> None:
        """Return when the kubelet has withdrawn the region and nobody, or force, holds it.

        Raises OperationFailed: region_held, drain_timeout, or what ends the operation meanwhile.
        """
        deadline = time.monotonic() + self.seconds
        while not (reason := self._not_free(operation)).free:
            if time.monotonic() >= deadline:
                raise _drain_timeout(operation, self.seconds, reason.why)
            operation.wait_stop(POLL_SECONDS)
        operation.require_running()

    def _not_free(self, operation: Operation) -> "_Answer":
        region_id = operation.request.region_id
        try:
            if not self.holders.withdrawn(region_id, _call_deadline()):
                return _Answer(free=False, why="the kubelet still offers it")
            holder = self._holder(operation)
        except Temporary as error:
            return _Answer(free=False, why=f"the kubelet cannot be asked: {error.message}")
        if holder is not None:
            _force(operation, holder)
        return _Answer(free=True, why="")

    def _holder(self, operation: Operation) -> DeviceHolder | None:
        return self.holders.fresh_holder(operation.request.region_id, _call_deadline())


@dataclass(frozen=True, slots=True)
class _Answer:
    free: bool
    why: str


def name_of(holder: DeviceHolder) -> str:
    """A holder in words: the pod, else what is known of it."""
    if holder.pod:
        container = f" (container {holder.container})" if holder.container else ""
        return f"pod {holder.namespace or '?'}/{holder.pod}{container}"
    if holder.source == "open":
        return "a process outside Kubernetes"
    return "a pod that the kubelet has not named yet"


def _force(operation: Operation, holder: DeviceHolder) -> None:
    request = operation.request
    if not request.force:
        raise _held(request.region_id, holder)
    requester = request.requested_by or "unknown"
    operation.note(f"forced by {requester} although held by {name_of(holder)}")
    log.warning(
        "held_region_forced",
        operation_id=request.operation_id,
        region=request.region_id,
        holder=name_of(holder),
        requested_by=requester,
    )


def _held(region_id: str, holder: DeviceHolder) -> OperationFailed:
    code = FailureCode.OPEN_ELSEWHERE if holder.source == "open" else FailureCode.REGION_HELD
    return operation_failed(
        code,
        f"{region_id} is held by {name_of(holder)}",
        expected="no holder",
        actual=name_of(holder),
    )


def _drain_timeout(operation: Operation, seconds: float, why: str) -> OperationFailed:
    return operation_failed(
        FailureCode.DRAIN_TIMEOUT,
        f"{operation.request.region_id} was not free within {seconds:g} s: {why}",
        expected="withdrawn by the kubelet and not held",
        actual=why,
    )


def _call_deadline() -> float:
    return time.monotonic() + CALL_SECONDS
