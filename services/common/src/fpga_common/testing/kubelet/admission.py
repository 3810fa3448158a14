"""Pod admission and container starts: where the kubelet calls the plugins.

One admission at a time for the whole kubelet, so a plugin that hangs in Allocate stops every pod.
"""

import threading
from collections.abc import Callable
from typing import TypeVar

import grpc

from fpga_common.testing.kubelet.assignments import Assignment
from fpga_common.testing.kubelet.choice import Demand, choose
from fpga_common.testing.kubelet.endpoint import Endpoint
from fpga_common.testing.kubelet.failures import AdmissionFailed, AllocationRefused
from fpga_common.testing.kubelet.manager import DeviceManager
from fpga_common.testing.kubelet.pods import Container, InitContainer, Pod

_UNEXPECTED = "UnexpectedAdmissionError"

Answer = TypeVar("Answer")


class Admission:
    """Allocates for pods, serially."""

    def __init__(self, manager: DeviceManager) -> None:
        self._manager = manager
        self._serial = threading.Lock()

    def admit(self, pod: Pod) -> None:
        """Allocate for every container, init containers first.

        Raises:
            AdmissionFailed: the pod has failed for good.
        """
        with self._serial:
            reusable: dict[str, set[str]] = {}
            for container in pod.all_containers:
                self._admit_container(pod, container, reusable)
            self._require_fit(pod)

    def pre_start(self, pod: Pod, container: Container | InitContainer) -> None:
        """What precedes every start of a container: PreStartContainer where it is wanted.

        A container whose cached answer was lost (no checkpoint) is allocated for anew.

        Raises:
            AllocationRefused: with a message for the container's status; the start is retried.
        """
        for resource in self._plugin_limits(container):
            self._call_pre_start(pod, container, resource)
        if self._lost_devices(pod, container):
            with self._serial:
                self._allocate_container(pod, container, {})

    def _admit_container(
        self, pod: Pod, container: Container | InitContainer, reusable: dict[str, set[str]]
    ) -> None:
        try:
            self._allocate_container(pod, container, reusable)
        except AllocationRefused as error:
            message = f"Allocate failed due to {error}, which is unexpected"
            raise AdmissionFailed(_UNEXPECTED, message) from error
        for entry in self._manager.assignments().of_container(pod.uid, container.name):
            given = reusable.setdefault(entry.resource, set())
            if isinstance(container, InitContainer) and not container.restartable:
                given |= set(entry.devices)
            else:
                given -= set(entry.devices)

    def _allocate_container(
        self, pod: Pod, container: Container | InitContainer, reusable: dict[str, set[str]]
    ) -> None:
        limits = self._plugin_limits(container)
        if limits:
            self._manager.free_ended_pods()
        for resource, count in limits.items():
            assignments = self._manager.assignments()
            held = assignments.find(pod.uid, container.name, resource)
            demand = Demand(
                resource,
                count,
                held=frozenset(held.devices if held else ()),
                reusable=frozenset(reusable.get(resource, ())),
            )
            sets = self._manager.sets(resource)
            devices = choose(demand, sets, assignments.in_use(resource), self._preference(resource))
            if devices:
                self._allocate(pod, container, resource, devices)

    def _allocate(
        self,
        pod: Pod,
        container: Container | InitContainer,
        resource: str,
        devices: list[str],
    ) -> None:
        endpoint = self._endpoint(resource)
        timeout = self._manager.options.call_timeout
        response = _call(lambda: endpoint.allocate(devices, timeout))
        if response is None:
            raise AllocationRefused("no containers return in allocation response")
        sets = self._manager.sets(resource)
        nodes = {device: sets.numa_node(device) if sets else -1 for device in devices}
        entry = Assignment(pod.uid, container.name, resource, nodes, response)
        self._manager.assign(entry)

    def _preference(self, resource: str) -> Callable[[list[str], list[str], int], set[str]]:
        def ask(available: list[str], must_include: list[str], size: int) -> set[str]:
            endpoint = self._endpoint(resource)
            if not endpoint.options.get_preferred_allocation_available:
                return set()
            timeout = self._manager.options.call_timeout
            return _call(lambda: endpoint.preferred(available, must_include, size, timeout))

        return ask

    def _endpoint(self, resource: str) -> Endpoint:
        endpoint = self._manager.endpoint(resource)
        if endpoint is None:
            raise AllocationRefused(f"unknown Device Plugin {resource}")
        if endpoint.stopped_at is not None:
            raise AllocationRefused(f"endpoint of {resource} has been stopped")
        return endpoint

    def _call_pre_start(
        self, pod: Pod, container: Container | InitContainer, resource: str
    ) -> None:
        endpoint = self._manager.endpoint(resource)
        if endpoint is None or not endpoint.options.pre_start_required:
            return
        held = self._manager.assignments().find(pod.uid, container.name, resource)
        if held is None:
            raise AllocationRefused(
                f"no devices found allocated in local cache for pod {pod.uid}, "
                f"container {container.name}, resource {resource}"
            )
        timeout = self._manager.options.prestart_timeout
        _call(lambda: endpoint.pre_start(sorted(held.devices), timeout))

    def _lost_devices(self, pod: Pod, container: Container | InitContainer) -> bool:
        assignments = self._manager.assignments()
        return any(
            assignments.find(pod.uid, container.name, resource) is None
            for resource in self._plugin_limits(container)
        )

    def _plugin_limits(self, container: Container | InitContainer) -> dict[str, int]:
        return {
            resource: count
            for resource, count in container.limits.items()
            if count > 0 and self._manager.is_plugin_resource(resource)
        }

    def _require_fit(self, pod: Pod) -> None:
        """The predicate that refuses what no plugin ever offered."""
        for container in pod.all_containers:
            for resource, count in container.limits.items():
                if count > 0 and not self._manager.is_plugin_resource(resource):
                    raise AdmissionFailed(
                        f"OutOf{resource}",
                        f"Node didn't have enough resource: {resource}, "
                        f"requested: {count}, used: 0, capacity: 0",
                    )


def _call(ask: Callable[[], Answer]) -> Answer:
    """Turn a plugin's error into the text that a pod's status shows of it."""
    try:
        return ask()
    except grpc.RpcError as error:
        code = error.code().name.title().replace("_", "")
        raise AllocationRefused(f"rpc error: code = {code} desc = {error.details()}") from error
    except ValueError as error:  # the channel is closed: the endpoint went away
        raise AllocationRefused(f"rpc error: code = Canceled desc = {error}") from error
