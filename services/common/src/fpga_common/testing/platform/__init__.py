"""A whole platform on loopback: every service as a real process, simulated nodes, fake kubelets.

The demo, the end-to-end tests and the benchmarks run on it.
"""

from fpga_common.testing.platform.local import LocalPlatform
from fpga_common.testing.platform.node import SimulatedNode

__all__ = ["LocalPlatform", "SimulatedNode"]
