"""The FakeKubelet's connection to one device plugin: who registered it, its one stream."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import grpc

from fpga_common.testing.kubelet.dialling import dial
from fpga_common.testing.kubelet.failures import PluginUnreachable
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb
from fpga_common.wire.kubelet.deviceplugin.v1beta1.deviceplugin_pb2_grpc import DevicePluginStub

# A pool of connections of its own: a plugin that re-registers on the same path is dialled afresh.
_CHANNEL_OPTIONS: Final = [
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.enable_http_proxy", 0),
]


class Endpoint:
    """One registered plugin. ``stopped_at`` is set once its stream has ended, for good."""

    def __init__(self, resource: str, socket_path: Path) -> None:
        self.resource = resource
        self.options = pb.DevicePluginOptions()
        self.stopped_at: float | None = None
        self._socket_path = socket_path
        self._channel = grpc.insecure_channel(f"unix:{socket_path}", options=_CHANNEL_OPTIONS)
        self._stub = DevicePluginStub(self._channel)

    def connect(self, dial_timeout: float) -> None:
        """Dial and ask for the plugin's options; only the dialling has a limit.

        Raises:
            PluginUnreachable: the socket did not answer in ``dial_timeout`` seconds.
            grpc.RpcError: the plugin's answer to GetDevicePluginOptions is an error.
        """
        if not dial(self._socket_path, dial_timeout):
            raise PluginUnreachable("failed to dial device plugin: context deadline exceeded")
        self.options = self._stub.GetDevicePluginOptions(pb.Empty())

    def watch(
        self,
        on_devices: Callable[[Sequence[pb.Device]], None],
        on_end: Callable[[], None],
    ) -> None:
        """Open ListAndWatch once, in a thread of its own; ``on_end`` is called at its end."""

        def read() -> None:
            # However the stream ends, the kubelet does not care why and never tries again.
            with contextlib.suppress(grpc.RpcError, ValueError):
                for message in self._stub.ListAndWatch(pb.Empty()):
                    on_devices(list(message.devices))
            on_end()

        name = f"fake-kubelet-watch-{self.resource}"
        threading.Thread(target=read, name=name, daemon=True).start()

    def allocate(
        self, device_ids: Sequence[str], timeout: float
    ) -> pb.ContainerAllocateResponse | None:
        """Ask for devices with exactly one container request; None where the answer is empty."""
        container = pb.ContainerAllocateRequest(devices_ids=device_ids)
        request = pb.AllocateRequest(container_requests=[container])
        answer = self._stub.Allocate(request, timeout=timeout)
        return answer.container_responses[0] if answer.container_responses else None

    def preferred(
        self, available: Sequence[str], must_include: Sequence[str], size: int, timeout: float
    ) -> set[str]:
        """Which of the available devices the plugin would rather give; a hint."""
        container = pb.ContainerPreferredAllocationRequest(
            available_deviceIDs=available, must_include_deviceIDs=must_include, allocation_size=size
        )
        request = pb.PreferredAllocationRequest(container_requests=[container])
        answer = self._stub.GetPreferredAllocation(request, timeout=timeout)
        responses = answer.container_responses
        return set(responses[0].deviceIDs) if responses else set()

    def pre_start(self, device_ids: Sequence[str], timeout: float) -> None:
        """Announce that a container with these devices is about to start."""
        request = pb.PreStartContainerRequest(devices_ids=device_ids)
        self._stub.PreStartContainer(request, timeout=timeout)

    def disconnect(self) -> None:
        """Close the connection; whatever waits on it fails."""
        self._channel.close()
