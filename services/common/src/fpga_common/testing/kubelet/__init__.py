"""FakeKubelet: a device manager and PodResources server that behave as Kubernetes 1.34's do.

Tests, demo and users' own tests of device plugins run on it, over real unix sockets.
"""

from fpga_common.testing.kubelet.failures import (
    AdmissionFailed,
    ContainerNotStarted,
    InvalidRegistration,
    KubeletStopped,
    UnknownPod,
)
from fpga_common.testing.kubelet.fake import FakeKubelet
from fpga_common.testing.kubelet.options import KubeletOptions
from fpga_common.testing.kubelet.pods import InitContainer
from fpga_common.testing.kubelet.views import (
    ContainerDevice,
    ContainerMount,
    ContainerView,
    DeviceView,
    ResourceView,
    RunningPod,
)

__all__ = [
    "AdmissionFailed",
    "ContainerDevice",
    "ContainerMount",
    "ContainerNotStarted",
    "ContainerView",
    "DeviceView",
    "FakeKubelet",
    "InitContainer",
    "InvalidRegistration",
    "KubeletOptions",
    "KubeletStopped",
    "ResourceView",
    "RunningPod",
    "UnknownPod",
]
