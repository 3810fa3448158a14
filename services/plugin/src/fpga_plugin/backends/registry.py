"""Every backend, most specific first. A new driver family is one module and one line here."""

from collections.abc import Callable
from typing import Final

from fpga_plugin.backends.dfl import dfl_backend
from fpga_plugin.backends.opae import opae_backend
from fpga_plugin.backends.protocol import Backend
from fpga_plugin.backends.unbound import UnboundBackend
from fpga_plugin.host.root import HostRoot

BACKENDS: Final[tuple[Callable[[HostRoot], Backend], ...]] = (
    dfl_backend,
    opae_backend,
    UnboundBackend,
)
