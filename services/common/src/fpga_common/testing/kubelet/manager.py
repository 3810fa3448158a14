"""The device manager: registered plugins, their devices, and what the node status shows.

One object is one life of a kubelet: FakeKubelet makes a new one at each start. Who allocates:
``admission``; who answers PodResources: ``podresources``.
"""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from fpga_common.testing.kubelet.assignments import Assignment, Assignments
from fpga_common.testing.kubelet.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from fpga_common.testing.kubelet.devices import DeviceSets
from fpga_common.testing.kubelet.endpoint import Endpoint
from fpga_common.testing.kubelet.failures import PluginUnreachable
from fpga_common.testing.kubelet.options import KubeletOptions
from fpga_common.testing.kubelet.registration import check_registration
from fpga_common.testing.kubelet.views import ResourceView
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb


class DeviceManager:
    """Keeps the state of every resource; thread-safe, and calls plugins outside its lock.

    ``active_pods`` gives the uids of pods that have not ended.
    """

    def __init__(
        self, folder: Path, options: KubeletOptions, active_pods: Callable[[], set[str]]
    ) -> None:
        self.options = options
        self._folder = folder
        self._active_pods = active_pods
        self._lock = threading.RLock()
        self._running = True
        known = read_checkpoint(folder)
        self._assignments = Assignments(known.assignments)
        self._devices = {resource: DeviceSets() for resource in known.resources}
        # A resource without endpoint here was known before the restart; it stopped at the start.
        self._lost_at = {resource: options.clock() for resource in known.resources}
        self._endpoints: dict[str, Endpoint] = {}
        self._clients: dict[str, Endpoint] = {}
        self._deleted: set[str] = set()
        self._registered_at: dict[str, float] = {}
        self._times: dict[str, list[tuple[float, float]]] = {}
        self._lists: dict[str, int] = {}

    def register(self, request: pb.RegisterRequest) -> None:
        """Take a plugin: check, dial back, ask its options, then open its stream once.

        The options in the request are ignored, as the kubelet ignores them.

        Raises:
            InvalidRegistration: version or resource name.
            PluginUnreachable: the socket cannot be dialled.
            grpc.RpcError: GetDevicePluginOptions failed.
        """
        called_at = time.monotonic()
        check_registration(request.version, request.resource_name)
        resource = request.resource_name
        endpoint = Endpoint(resource, self._folder / request.endpoint)
        with self._lock:
            if not self._running:
                raise PluginUnreachable("the kubelet is stopping")
            self._clients[resource] = endpoint
        try:
            endpoint.connect(self.options.dial_timeout)
        except BaseException:
            self._drop_client(endpoint)
            raise
        with self._lock:
            self._endpoints[resource] = endpoint
            self._lost_at.pop(resource, None)
            self._registered_at[resource] = called_at
        endpoint.watch(
            lambda devices: self._receive(resource, devices), lambda: self._stream_ended(endpoint)
        )

    def registration_times(self, resource: str) -> list[tuple[float, float]]:
        """When Register was called and when the first list came after it, for each registration.

        Seconds on the monotonic clock.
        """
        with self._lock:
            return list(self._times.get(resource, ()))

    def lists_received(self, resource: str) -> int:
        """How many lists of a resource came."""
        with self._lock:
            return self._lists.get(resource, 0)

    def resources(self) -> dict[str, ResourceView]:
        """What the node status shows now; resources whose grace is over stay there with 0."""
        with self._lock:
            self._forget_expired()
            views = {resource: ResourceView(0, 0) for resource in self._deleted}
            for resource, sets in self._devices.items():
                devices = {**sets.unhealthy, **sets.healthy}
                views[resource] = ResourceView(sets.capacity, len(sets.healthy), devices)
            return views

    def sets(self, resource: str) -> DeviceSets | None:
        """The devices of a resource, None where nothing of that name is registered."""
        with self._lock:
            return self._devices.get(resource)

    def healthy_devices(self) -> dict[str, DeviceSets]:
        """Every resource's devices."""
        with self._lock:
            return dict(self._devices)

    def endpoint(self, resource: str) -> Endpoint | None:
        """The plugin that serves a resource; None before it registers again after a restart."""
        with self._lock:
            return self._endpoints.get(resource)

    def is_plugin_resource(self, resource: str) -> bool:
        """Whether device plugins are asked for this resource."""
        with self._lock:
            return resource in self._devices or resource in self._assignments.resources()

    def assignments(self) -> Assignments:
        """A copy of who holds what."""
        with self._lock:
            return self._assignments.copy()

    def assign(self, entry: Assignment) -> None:
        """Remember what a container was given."""
        with self._lock:
            self._assignments.insert(entry)
            self._write()

    def free_ended_pods(self) -> None:
        """Forget what ended pods held: lazily, as the kubelet does, before it matters."""
        active = self._active_pods()
        with self._lock:
            if self._assignments.keep_only(active):
                self._write()

    def stop(self) -> None:
        """The process ends: connections close, nothing is updated any more."""
        with self._lock:
            self._running = False
            clients = {*self._clients.values(), *self._endpoints.values()}
        for client in clients:
            client.disconnect()

    def _receive(self, resource: str, devices: Sequence[pb.Device]) -> None:
        with self._lock:
            if not self._running:
                return
            self._devices[resource] = DeviceSets.listed(devices)
            self._deleted.discard(resource)
            self._lists[resource] = self._lists.get(resource, 0) + 1
            called_at = self._registered_at.pop(resource, None)
            if called_at is not None:
                self._times.setdefault(resource, []).append((called_at, time.monotonic()))
            self._write()

    def _stream_ended(self, endpoint: Endpoint) -> None:
        with self._lock:
            current = self._clients.get(endpoint.resource)
            if not self._running or current is None:
                return
            if current is endpoint or self.options.stale_cleanup_bug:
                del self._clients[endpoint.resource]
                self._mark_stopped(current)
        endpoint.disconnect()
        if self.options.stale_cleanup_bug:
            current.disconnect()

    def _mark_stopped(self, endpoint: Endpoint) -> None:
        endpoint.stopped_at = self.options.clock()
        sets = self._devices.get(endpoint.resource)
        if sets is not None:
            self._devices[endpoint.resource] = sets.all_unhealthy()

    def _drop_client(self, endpoint: Endpoint) -> None:
        with self._lock:
            if self._clients.get(endpoint.resource) is endpoint:
                del self._clients[endpoint.resource]
        endpoint.disconnect()

    def _forget_expired(self) -> None:
        for resource in [each for each in self._devices if self._expired(each)]:
            del self._devices[resource]
            self._endpoints.pop(resource, None)
            self._lost_at.pop(resource, None)
            self._deleted.add(resource)
            self._write()

    def _expired(self, resource: str) -> bool:
        endpoint = self._endpoints.get(resource)
        stopped_at = endpoint.stopped_at if endpoint else self._lost_at.get(resource)
        if stopped_at is None:
            return False
        return self.options.clock() - stopped_at > self.options.endpoint_stop_grace

    def _write(self) -> None:
        resources = {name: sorted(sets.healthy) for name, sets in self._devices.items()}
        write_checkpoint(self._folder, Checkpoint(tuple(self._assignments), resources))
