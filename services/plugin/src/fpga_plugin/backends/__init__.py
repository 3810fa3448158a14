"""Which cards a node has and what they say: one module a driver family."""

from pathlib import Path

from fpga_plugin.backends.protocol import Backend


def default_backends(host_root: Path) -> tuple[Backend, ...]:
    """Every backend, most specific first: a card belongs to the first that finds it."""
    from fpga_plugin.backends.registry import BACKENDS
    from fpga_plugin.host.root import HostRoot

    host = HostRoot(host_root)
    return tuple(make(host) for make in BACKENDS)
