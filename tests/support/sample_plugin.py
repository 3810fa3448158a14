"""A tiny device plugin whose every answer a test can set: what the FakeKubelet is tested with."""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from pathlib import Path
from typing import Any, Final

import grpc

from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb
from fpga_common.wire.kubelet.deviceplugin.v1beta1.deviceplugin_pb2_grpc import (
    DevicePluginServicer,
    RegistrationStub,
    add_DevicePluginServicer_to_server,
)

RESOURCE: Final = "example.com/thing"

_END = object()


def device(id_: str, health: str = "Healthy", numa: Sequence[int] = ()) -> pb.Device:
    """A device of a list; without topology where there is no NUMA node."""
    if not numa:
        return pb.Device(ID=id_, health=health)
    nodes = [pb.NUMANode(ID=node) for node in numa]
    return pb.Device(ID=id_, health=health, topology=pb.TopologyInfo(nodes=nodes))


def devices(*ids: str) -> list[pb.Device]:
    """Healthy devices with these ids."""
    return [device(id_) for id_ in ids]


class SamplePlugin(DevicePluginServicer):
    """Serves on ``folder/endpoint`` from the start; ``register`` tells the kubelet."""

    def __init__(
        self,
        folder: Path,
        *,
        endpoint: str = "sample.sock",
        resource: str = RESOURCE,
        options: pb.DevicePluginOptions | None = None,
        first: Sequence[pb.Device] | None = (),
    ) -> None:
        self.folder, self.endpoint, self.resource = folder, endpoint, resource
        self.options = options or pb.DevicePluginOptions()
        self.first = first
        self.streams = 0
        self.allocations: list[list[str]] = []
        self.pre_starts: list[list[str]] = []
        self.preference_requests: list[pb.ContainerPreferredAllocationRequest] = []
        self.refuse_options = threading.Event()
        self.on_allocate: Callable[[list[str]], None] = lambda ids: None
        self.on_pre_start: Callable[[list[str], int], None] = lambda ids, attempt: None
        self.answer: Callable[[list[str]], pb.ContainerAllocateResponse] = lambda ids: (
            pb.ContainerAllocateResponse(envs={"IDS": ",".join(ids)})
        )
        self.prefer: Callable[[list[str]], list[str]] = lambda available: []
        self._messages: queue.Queue[Any] = queue.Queue()
        self._pool = futures.ThreadPoolExecutor(8, thread_name_prefix="sample-plugin")
        self._server = grpc.server(self._pool)
        add_DevicePluginServicer_to_server(self, self._server)
        self._server.add_insecure_port(f"unix:{folder / endpoint}")
        self._server.start()

    def __enter__(self) -> "SamplePlugin":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End stream and server."""
        for _ in range(self.streams + 1):
            self.end_stream()
        self._server.stop(grace=None).wait(5)
        self._pool.shutdown(wait=True, cancel_futures=True)

    def register(
        self, *, version: str = "v1beta1", request_options: pb.DevicePluginOptions | None = None
    ) -> None:
        """Call Register. Raises grpc.RpcError as the kubelet answers."""
        request = pb.RegisterRequest(
            version=version,
            endpoint=self.endpoint,
            resource_name=self.resource,
            options=request_options,
        )
        with grpc.insecure_channel(
            f"unix:{self.folder / 'kubelet.sock'}", [("grpc.use_local_subchannel_pool", 1)]
        ) as channel:
            RegistrationStub(channel).Register(request, timeout=15)

    def send(self, list_: Sequence[pb.Device]) -> None:
        """Send a list."""
        self._messages.put(list(list_))

    def end_stream(self) -> None:
        """Let the open stream return without an error."""
        self._messages.put(_END)

    def GetDevicePluginOptions(  # noqa: N802
        self, request: pb.Empty, context: Any
    ) -> pb.DevicePluginOptions:
        if self.refuse_options.is_set():
            context.abort(grpc.StatusCode.INTERNAL, "no options today")
        return self.options

    def ListAndWatch(  # noqa: N802
        self, request: pb.Empty, context: Any
    ) -> Iterator[pb.ListAndWatchResponse]:
        self.streams += 1
        if self.first is not None:
            yield pb.ListAndWatchResponse(devices=self.first)
        while (message := self._messages.get()) is not _END:
            yield pb.ListAndWatchResponse(devices=message)

    def GetPreferredAllocation(  # noqa: N802
        self, request: pb.PreferredAllocationRequest, context: Any
    ) -> pb.PreferredAllocationResponse:
        (asked,) = request.container_requests
        self.preference_requests.append(asked)
        ids = self.prefer(list(asked.available_deviceIDs))
        answer = pb.ContainerPreferredAllocationResponse(deviceIDs=ids)
        return pb.PreferredAllocationResponse(container_responses=[answer])

    def Allocate(  # noqa: N802
        self, request: pb.AllocateRequest, context: Any
    ) -> pb.AllocateResponse:
        (asked,) = request.container_requests
        ids = list(asked.devices_ids)
        self.allocations.append(ids)
        try:
            self.on_allocate(ids)
        except RuntimeError as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        return pb.AllocateResponse(container_responses=[self.answer(ids)])

    def PreStartContainer(  # noqa: N802
        self, request: pb.PreStartContainerRequest, context: Any
    ) -> pb.PreStartContainerResponse:
        self.pre_starts.append(list(request.devices_ids))
        try:
            self.on_pre_start(list(request.devices_ids), len(self.pre_starts))
        except RuntimeError as error:
            context.abort(grpc.StatusCode.UNAVAILABLE, str(error))
        return pb.PreStartContainerResponse()
