"""Why the FakeKubelet refuses something, each as its own type."""

from fpga_common.domain.errors import Permanent, Temporary


class InvalidRegistration(Permanent):
    """A Register call that breaks one of the kubelet's rules."""

    code = "invalid_registration"


class PluginUnreachable(Temporary):
    """The plugin's socket could not be dialled in time."""

    code = "plugin_unreachable"


class AdmissionFailed(Permanent):
    """The pod failed for good; ``reason`` and the message are what its status would show."""

    code = "admission_failed"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class AllocationRefused(Permanent):
    """The device manager cannot give what a container asks for."""

    code = "allocation_refused"


class ContainerNotStarted(Temporary):
    """A container did not start in the time given; the pod is still pending."""

    code = "container_not_started"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class KubeletStopped(Temporary):
    """Asked for something that only a running kubelet does."""

    code = "kubelet_stopped"


class UnknownPod(Permanent):
    """No pod of that name."""

    code = "unknown_pod"
