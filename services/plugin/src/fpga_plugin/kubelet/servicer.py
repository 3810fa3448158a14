"""One pool's device plugin: what the kubelet calls. It answers from memory, and never programs.

The kubelet gives most of these calls no time limit and admits no other pod meanwhile.
"""

import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

import grpc

from fpga_common.domain.errors import Permanent
from fpga_common.observability.logging import get_logger
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb
from fpga_common.wire.kubelet.deviceplugin.v1beta1.deviceplugin_pb2_grpc import (
    DevicePluginServicer,
)
from fpga_plugin.kubelet.messages import container_answer, list_message
from fpga_plugin.kubelet.pool_state import PoolState
from fpga_plugin.kubelet.ports import HoldSink, Inventory
from fpga_plugin.pools import PoolDevice, preferred

STREAM_WAKE_SECONDS: Final = 5.0
"""How often a stream without news looks whether it has ended, should a wake-up be missed."""

OPTIONS: Final = pb.DevicePluginOptions(get_preferred_allocation_available=True)

log = get_logger(__name__)


class AllocationRefused(Permanent):
    """A device must not be handed out; the pod that asked for it fails for good."""

    code = "allocation_refused"


class DevicePlugin(DevicePluginServicer):
    """Serves one generation of one pool: from one registration to the next."""

    def __init__(
        self, state: PoolState, inventory: Inventory, holds: HoldSink, *, simulated: bool
    ) -> None:
        self._state = state
        self._inventory = inventory
        self._holds = holds
        self._simulated = simulated
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._streams: set[object] = set()
        self._streamed = False

    @property
    def streaming(self) -> bool:
        """Whether a ListAndWatch stream is open."""
        return bool(self._streams)

    @property
    def streamed(self) -> bool:
        """Whether one ever was."""
        return self._streamed

    def end(self) -> None:
        """Let every stream return."""
        self._ended.set()
        self._state.wake()

    def GetDevicePluginOptions(  # noqa: N802
        self, request: pb.Empty, context: Any
    ) -> pb.DevicePluginOptions:
        """Preferences are given; nothing happens before a container's start."""
        return OPTIONS

    def ListAndWatch(  # noqa: N802
        self, request: pb.Empty, context: Any
    ) -> Iterator[pb.ListAndWatchResponse]:
        """The whole list at once, and again whenever the kubelet has something to learn."""
        stream = object()
        if not self._open(stream, context):
            return

        def ended() -> bool:
            return self._ended.is_set() or stream not in self._streams

        version = -1
        while not ended():
            listing = self._state.wait_newer(version, ended, STREAM_WAKE_SECONDS)
            if listing is not None:
                version = listing.version
                yield list_message(listing.devices)

    def GetPreferredAllocation(  # noqa: N802
        self, request: pb.PreferredAllocationRequest, context: Any
    ) -> pb.PreferredAllocationResponse:
        """One NUMA node, then cards that are used already."""
        devices = self._state.listing.devices
        answers = [
            pb.ContainerPreferredAllocationResponse(
                deviceIDs=preferred(
                    devices,
                    each.available_deviceIDs,
                    each.must_include_deviceIDs,
                    each.allocation_size,
                )
            )
            for each in request.container_requests
        ]
        return pb.PreferredAllocationResponse(container_responses=answers)

    def Allocate(  # noqa: N802
        self, request: pb.AllocateRequest, context: Any
    ) -> pb.AllocateResponse:
        """Hand devices out, or refuse with a sentence that the pod's status will show."""
        try:
            answers = [self._allocate(each.devices_ids) for each in request.container_requests]
            return pb.AllocateResponse(container_responses=answers)
        except AllocationRefused as error:
            log.warning("allocation_refused", reason=error.message)
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, error.message)
            raise

    def PreStartContainer(  # noqa: N802
        self, request: pb.PreStartContainerRequest, context: Any
    ) -> pb.PreStartContainerResponse:
        """Nothing to do; the options say so."""
        return pb.PreStartContainerResponse()

    def _open(self, stream: object, context: Any) -> bool:
        with self._lock:
            self._streams.add(stream)
            self._streamed = True
        if context.add_callback(lambda: self._close(stream)):
            return True
        self._close(stream)  # it ended before it began, and would count as open for ever
        return False

    def _close(self, stream: object) -> None:
        with self._lock:
            self._streams.discard(stream)
        self._state.wake()

    def _allocate(self, device_ids: Sequence[str]) -> pb.ContainerAllocateResponse:
        """Hold first, look second: whoever reserved a region either sees the hold or is seen."""
        take_back = self._holds.allocated(self._state.pool.resource, device_ids)
        try:
            devices = self._require_allocatable(device_ids)
        except AllocationRefused:
            take_back()
            raise
        return container_answer(devices, simulated=self._simulated)

    def _require_allocatable(self, device_ids: Sequence[str]) -> list[PoolDevice]:
        self._state.refresh(self._inventory.snapshot())
        return [self._require_device(device_id) for device_id in device_ids]

    def _require_device(self, device_id: str) -> PoolDevice:
        device = self._state.device(device_id)
        if device is None:
            raise AllocationRefused(f"{self._state.pool.resource} has no device {device_id!r}")
        if not device.healthy:
            raise AllocationRefused(
                f"device {device_id} cannot be handed out: {device.why_unhealthy}"
            )
        return device
