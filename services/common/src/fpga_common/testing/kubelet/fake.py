"""FakeKubelet: the part that tests and demo hold in their hands."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from fpga_common.testing.kubelet.containers import container_view, require_device_nodes
from fpga_common.testing.kubelet.failures import (
    AdmissionFailed,
    AllocationRefused,
    ContainerNotStarted,
    KubeletStopped,
)
from fpga_common.testing.kubelet.life import KubeletLife
from fpga_common.testing.kubelet.options import KubeletOptions
from fpga_common.testing.kubelet.pod_table import PodTable
from fpga_common.testing.kubelet.pods import InitContainer, Limits, Phase, Pod, make_pod
from fpga_common.testing.kubelet.sockets import delete_sockets
from fpga_common.testing.kubelet.views import ContainerView, ResourceView, RunningPod
from fpga_common.testing.waiting import wait_for

_FOLDER_MODE: Final = 0o750
_START_SECONDS: Final = 90.0


class FakeKubelet:
    """A kubelet of one node below ``root``: a context manager, started on entry.

    Pods outlive ``stop()`` and ``start()``, as containers outlive a kubelet. Keep ``root`` short:
    a unix socket's path has at most 107 bytes.
    """

    def __init__(self, root: Path, options: KubeletOptions | None = None) -> None:
        self.options = options or KubeletOptions()
        self.device_plugin_dir = root / "device-plugins"
        self.pod_resources_socket = root / "pod-resources" / "kubelet.sock"
        self.pod_table = PodTable()
        self.refusal: str | None = None
        self._life: KubeletLife | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def running(self) -> bool:
        """Whether it is started."""
        return self._life is not None

    def start(self) -> None:
        """Delete the sockets of plugins, then serve. Does nothing when it runs."""
        if self._life is not None:
            return
        for folder in (self.device_plugin_dir, self.pod_resources_socket.parent):
            folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            delete_sockets(folder)
        self._life = KubeletLife(
            self.device_plugin_dir,
            self.pod_resources_socket,
            self.options,
            self.pod_table,
            lambda: self.refusal,
        )

    def stop(self) -> None:
        """End as a killed process does: sockets stay on disk, pods go on running."""
        life, self._life = self._life, None
        if life is not None:
            life.stop()

    def restart(self) -> None:
        """Stop and start: plugins have to register anew."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop, and take the own sockets away."""
        self.stop()
        for path in (self.device_plugin_dir / "kubelet.sock", self.pod_resources_socket):
            path.unlink(missing_ok=True)

    def resources(self) -> dict[str, ResourceView]:
        """Extended resources as the node's status shows them. Raises KubeletStopped."""
        return self._alive().manager.resources()

    def refuse_registrations(self, message: str | None) -> None:
        """Refuse every Register with ``message`` from now on; None ends that."""
        self.refusal = message

    def drop_stream(self, resource: str) -> None:
        """Lose the connection to a plugin, as a kubelet does that was disturbed.

        Raises KubeletStopped.
        """
        endpoint = self._alive().manager.endpoint(resource)
        if endpoint is not None:
            endpoint.disconnect()

    def lists_received(self, resource: str) -> int:
        """How many lists of a resource came since this start. Raises KubeletStopped."""
        return self._alive().manager.lists_received(resource)

    def registration_times(self, resource: str) -> list[tuple[float, float]]:
        """When Register was called and when the first list came, since this start.

        Seconds on the monotonic clock. Raises KubeletStopped.
        """
        return self._alive().manager.registration_times(resource)

    def wait_for_resource(
        self,
        resource: str,
        *,
        capacity: int | None = None,
        allocatable: int | None = None,
        timeout: float = 10.0,
    ) -> ResourceView:
        """Wait until the resource is there, and has the given counts where they are given.

        Raises:
            TimeoutError: not within ``timeout`` seconds; the message shows the last state.
        """

        def found() -> ResourceView | None:
            view = self.resources().get(resource)
            if view is None:
                return None
            wanted = (
                view.capacity if capacity is None else capacity,
                view.allocatable if allocatable is None else allocatable,
            )
            return view if (view.capacity, view.allocatable) == wanted else None

        try:
            return wait_for(found, timeout=timeout, interval=0.002, what=resource)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; resources: {self.resources()}") from error

    def run_pod(
        self,
        name: str,
        namespace: str = "default",
        *,
        limits: Limits | None = None,
        containers: Mapping[str, Limits] | None = None,
        init_containers: Sequence[InitContainer] = (),
        timeout: float = _START_SECONDS,
    ) -> RunningPod:
        """Admit a pod and start its containers; ``limits`` alone makes one called ``main``.

        Raises:
            AdmissionFailed: the pod failed for good; it stays known as ended.
            ContainerNotStarted: not within ``timeout`` seconds; the pod stays pending.
            KubeletStopped: the kubelet does not run.
        """
        self.admit_pod(
            name,
            namespace,
            limits=limits,
            containers=containers,
            init_containers=init_containers,
        )
        return self.start_pod(name, namespace, timeout=timeout)

    def admit_pod(
        self,
        name: str,
        namespace: str = "default",
        *,
        limits: Limits | None = None,
        containers: Mapping[str, Limits] | None = None,
        init_containers: Sequence[InitContainer] = (),
    ) -> None:
        """Admission alone: the pod is pending afterwards and holds its devices.

        Raises:
            AdmissionFailed: the pod failed for good.
            KubeletStopped: the kubelet does not run.
        """
        admission = self._alive().admission
        pod = make_pod(name, namespace, limits, containers, init_containers)
        self.pod_table.add(pod)
        try:
            admission.admit(pod)
        except AdmissionFailed as error:
            pod.phase, pod.reason, pod.message = Phase.FAILED, error.reason, error.message
            raise

    def start_pod(
        self, name: str, namespace: str = "default", *, timeout: float = _START_SECONDS
    ) -> RunningPod:
        """Start the containers of an admitted pod, init containers first.

        Raises:
            ContainerNotStarted: not within ``timeout`` seconds; the pod stays pending.
        """
        pod = self.pod_table.find(name, namespace)
        deadline = time.monotonic() + timeout
        views = {
            container.name: self._start_container(pod, container.name, deadline)
            for container in pod.all_containers
        }
        pod.phase = Phase.RUNNING
        return RunningPod(pod.name, pod.namespace, pod.uid, views)

    def restart_container(
        self,
        name: str,
        container: str = "main",
        namespace: str = "default",
        *,
        timeout: float = _START_SECONDS,
    ) -> ContainerView:
        """Start a container again: the cached Allocate answer, PreStartContainer anew.

        Raises:
            ContainerNotStarted: not within ``timeout`` seconds.
            UnknownPod: no such pod.
        """
        pod = self.pod_table.find(name, namespace)
        return self._start_container(pod, container, time.monotonic() + timeout)

    def finish_pod(
        self, name: str, namespace: str = "default", *, phase: Phase = Phase.SUCCEEDED
    ) -> None:
        """Let the pod end by itself; it stays known, and its devices become free lazily."""
        self.pod_table.find(name, namespace).phase = phase

    def delete_pod(self, name: str, namespace: str = "default") -> None:
        """Delete a pod; its devices become free lazily. Raises UnknownPod."""
        self.pod_table.remove(name, namespace)

    def pods(self) -> list[Pod]:
        """Every pod that was sent to the node and not deleted."""
        return self.pod_table.all()

    def _start_container(self, pod: Pod, name: str, deadline: float) -> ContainerView:
        while True:
            try:
                return self._try_start(pod, name)
            except ContainerNotStarted:
                pause = min(self.options.prestart_retry, deadline - time.monotonic())
                if pause <= 0:
                    raise
                time.sleep(pause)

    def _try_start(self, pod: Pod, name: str) -> ContainerView:
        life = self._alive()
        try:
            life.admission.pre_start(pod, pod.container(name))
        except AllocationRefused as error:
            raise ContainerNotStarted("CreateContainerConfigError", error.message) from error
        entries = life.manager.assignments().of_container(pod.uid, name)
        view = container_view(name, entries)
        if self.options.check_device_nodes:
            require_device_nodes(view)
        return view

    def _alive(self) -> KubeletLife:
        if self._life is None:
            raise KubeletStopped("the kubelet is not running")
        return self._life
