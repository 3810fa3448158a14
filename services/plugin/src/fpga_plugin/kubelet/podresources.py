"""Asks the kubelet's PodResources v1 service. Its messages stay in this module."""

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import grpc

from fpga_common.domain.errors import Temporary
from fpga_common.wire.kubelet.podresources.v1 import podresources_pb2 as pb
from fpga_common.wire.kubelet.podresources.v1.podresources_pb2_grpc import PodResourcesListerStub
from fpga_plugin.kubelet.holding import PodContainer, PodListing
from fpga_plugin.kubelet.sockets import SocketIdentity, identify

_CHANNEL_OPTIONS: Final = [
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    # A node's whole pod list; the kubelet sends up to 16 MiB.
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
]


class PodResourcesUnavailable(Temporary):
    """The kubelet cannot be asked who has which device."""

    code = "pod_resources_unavailable"


class PodResourcesReader:
    """A client for one socket; follows the kubelet over restarts. Thread-safe.

    Deadlines are on the monotonic clock. ``resources`` are the extended resources looked at.
    """

    def __init__(
        self,
        socket_path: Path,
        resources: Iterable[str],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = socket_path
        self._resources = frozenset(resources)
        self._clock = clock
        self._lock = threading.Lock()
        self._channel: grpc.Channel | None = None
        self._kubelet: SocketIdentity | None = None

    def listing(self, deadline: float) -> PodListing:
        """Which containers have which devices. Raises PodResourcesUnavailable."""
        asked_at = self._clock()
        kubelet, stub = self._connect()
        try:
            answer = stub.List(pb.ListPodResourcesRequest(), timeout=_left(deadline))
        except (grpc.RpcError, ValueError) as error:
            raise _unavailable(error) from error
        if identify(self._path) != kubelet:
            raise PodResourcesUnavailable("the kubelet restarted while it was asked")
        return PodListing(asked_at, kubelet, self._holders(answer))

    def allocatable(self, deadline: float) -> frozenset[str]:
        """Ids that the kubelet may give to a pod. Raises PodResourcesUnavailable."""
        _, stub = self._connect()
        try:
            answer = stub.GetAllocatableResources(
                pb.AllocatableResourcesRequest(), timeout=_left(deadline)
            )
        except (grpc.RpcError, ValueError) as error:
            raise _unavailable(error) from error
        return frozenset(
            device
            for entry in answer.devices
            if entry.resource_name in self._resources
            for device in entry.device_ids
        )

    def close(self) -> None:
        """Close the connection; a call that waits on it fails."""
        with self._lock:
            channel, self._channel, self._kubelet = self._channel, None, None
        if channel is not None:
            channel.close()

    def _connect(self) -> tuple[SocketIdentity, PodResourcesListerStub]:
        kubelet = identify(self._path)
        if kubelet is None:
            raise PodResourcesUnavailable(f"no socket at {self._path}")
        with self._lock:
            if self._channel is None or kubelet != self._kubelet:
                if self._channel is not None:
                    self._channel.close()
                self._channel = grpc.insecure_channel(f"unix:{self._path}", _CHANNEL_OPTIONS)
                self._kubelet = kubelet
            return kubelet, PodResourcesListerStub(self._channel)

    def _holders(self, answer: pb.ListPodResourcesResponse) -> dict[str, PodContainer]:
        return {
            device: PodContainer(pod.namespace, pod.name, container.name, entry.resource_name)
            for pod in answer.pod_resources
            for container in pod.containers
            for entry in container.devices
            if entry.resource_name in self._resources
            for device in entry.device_ids
        }


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


def _unavailable(error: Exception) -> PodResourcesUnavailable:
    if isinstance(error, grpc.RpcError):
        return PodResourcesUnavailable(f"{error.code().name}: {error.details()}")
    return PodResourcesUnavailable(str(error))
