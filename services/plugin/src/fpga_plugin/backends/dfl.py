"""Cards under the Linux kernel's own DFL driver."""

from fpga_plugin.backends.intel import IntelBackend
from fpga_plugin.backends.intel_layout import DFL
from fpga_plugin.host.root import HostRoot


def dfl_backend(host: HostRoot) -> IntelBackend:
    """The ``dfl`` backend for a host."""
    return IntelBackend(host, DFL)
