"""Cards under Intel's older out-of-tree OPAE driver."""

from fpga_plugin.backends.intel import IntelBackend
from fpga_plugin.backends.intel_layout import OPAE
from fpga_plugin.host.root import HostRoot


def opae_backend(host: HostRoot) -> IntelBackend:
    """The ``opae`` backend for a host."""
    return IntelBackend(host, OPAE)
