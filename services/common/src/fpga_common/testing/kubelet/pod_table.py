"""The pods that were sent to the node: what the API server and the container runtime remember."""

import threading

from fpga_common.testing.kubelet.failures import AdmissionFailed, UnknownPod
from fpga_common.testing.kubelet.pods import Pod


class PodTable:
    """Pods by namespace and name; outlives the kubelet's process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pods: dict[tuple[str, str], Pod] = {}

    def add(self, pod: Pod) -> None:
        """Take a pod in, in place of an ended one. Raises AdmissionFailed for an active one."""
        with self._lock:
            earlier = self._pods.get((pod.namespace, pod.name))
            if earlier is not None and earlier.phase.active:
                raise AdmissionFailed("AlreadyExists", f"pod {pod.name!r} already exists")
            self._pods[pod.namespace, pod.name] = pod

    def find(self, name: str, namespace: str) -> Pod:
        """The pod of that name. Raises UnknownPod."""
        with self._lock:
            try:
                return self._pods[namespace, name]
            except KeyError as error:
                raise UnknownPod(f"no pod {name!r} in namespace {namespace!r}") from error

    def remove(self, name: str, namespace: str) -> None:
        """Delete a pod. Raises UnknownPod."""
        pod = self.find(name, namespace)
        with self._lock:
            self._pods.pop((pod.namespace, pod.name), None)

    def all(self) -> list[Pod]:
        """Every pod."""
        with self._lock:
            return list(self._pods.values())

    def active_uids(self) -> set[str]:
        """The uids of pods that have not ended."""
        return {pod.uid for pod in self.all() if pod.phase.active}
