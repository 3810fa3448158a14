"""The kubelet's PodResources v1 service over the device manager's state."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import grpc

from fpga_common.testing.kubelet.assignments import Assignments
from fpga_common.testing.kubelet.manager import DeviceManager
from fpga_common.testing.kubelet.pods import Pod
from fpga_common.wire.kubelet.podresources.v1 import podresources_pb2 as pb
from fpga_common.wire.kubelet.podresources.v1.podresources_pb2_grpc import (
    PodResourcesListerServicer,
)

RATE_PER_SECOND: Final = 100.0
BURST: Final = 10.0


class RateLimit:
    """A token bucket as the kubelet's: 100 calls a second, 10 at once."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._tokens = BURST
        self._at = clock()
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Whether another call is allowed now."""
        with self._lock:
            now = self._clock()
            self._tokens = min(BURST, self._tokens + (now - self._at) * RATE_PER_SECOND)
            self._at = now
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True


class PodResources(PodResourcesListerServicer):
    """Shows which devices are whose; ``pods`` gives every pod of the node."""

    def __init__(self, manager: DeviceManager, pods: Callable[[], list[Pod]]) -> None:
        self._manager = manager
        self._pods = pods
        self._rate = RateLimit(manager.options.clock)

    def List(  # noqa: N802
        self, request: pb.ListPodResourcesRequest, context: Any
    ) -> pb.ListPodResourcesResponse:
        """Every pod that has not ended, with what its containers hold."""
        self._admit_call(context)
        self._manager.free_ended_pods()
        assignments = self._manager.assignments()
        shown = [_pod_message(pod, assignments) for pod in self._pods() if pod.phase.active]
        return pb.ListPodResourcesResponse(pod_resources=shown)

    def GetAllocatableResources(  # noqa: N802
        self, request: pb.AllocatableResourcesRequest, context: Any
    ) -> pb.AllocatableResourcesResponse:
        """Healthy devices alone."""
        self._admit_call(context)
        devices = [
            message
            for resource, sets in self._manager.healthy_devices().items()
            for id_, view in sets.healthy.items()
            for message in _device_messages(resource, id_, view.numa_nodes)
        ]
        return pb.AllocatableResourcesResponse(devices=devices)

    def Get(  # noqa: N802
        self, request: pb.GetPodResourcesRequest, context: Any
    ) -> pb.GetPodResourcesResponse:
        """One active pod; an error for any other."""
        self._admit_call(context)
        self._manager.free_ended_pods()
        wanted = (request.pod_name, request.pod_namespace)
        active = {(pod.name, pod.namespace): pod for pod in self._pods() if pod.phase.active}
        if wanted not in active:
            context.abort(
                grpc.StatusCode.UNKNOWN,
                f"pod {request.pod_name} in namespace {request.pod_namespace} not found",
            )
        message = _pod_message(active[wanted], self._manager.assignments())
        return pb.GetPodResourcesResponse(pod_resources=message)

    def _admit_call(self, context: Any) -> None:
        if not self._rate.take():
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "rejected by rate limit")


def _pod_message(pod: Pod, assignments: Assignments) -> pb.PodResources:
    containers = [
        pb.ContainerResources(
            name=container.name, devices=_container_devices(pod.uid, container.name, assignments)
        )
        for container in pod.shown_containers()
    ]
    return pb.PodResources(name=pod.name, namespace=pod.namespace, containers=containers)


def _container_devices(
    pod_uid: str, container: str, assignments: Assignments
) -> Iterator[pb.ContainerDevices]:
    for entry in assignments.of_container(pod_uid, container):
        for device, node in entry.devices.items():
            nodes = (node,) if node >= 0 else ()
            yield from _device_messages(entry.resource, device, nodes)


def _device_messages(
    resource: str, device: str, numa_nodes: tuple[int, ...]
) -> list[pb.ContainerDevices]:
    """One message a device and NUMA node; one without topology where there is no node."""
    if not numa_nodes:
        return [pb.ContainerDevices(resource_name=resource, device_ids=[device])]
    return [
        pb.ContainerDevices(
            resource_name=resource,
            device_ids=[device],
            topology=pb.TopologyInfo(nodes=[pb.NUMANode(ID=node)]),
        )
        for node in numa_nodes
    ]
