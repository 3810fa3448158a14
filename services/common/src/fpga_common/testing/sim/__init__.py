"""Simulated DFL cards: a real-looking ``/sys`` and ``/dev`` below a folder, and ways to break it.

Used by tests, demo and ``fpga-sim``. It knows nothing of the node plugin, which discovers these
trees with the same code as real ones.
"""

from fpga_common.testing.sim.card import CardAbsent, Fault, SimulatedCard
from fpga_common.testing.sim.gbs import make_gbs
from fpga_common.testing.sim.host import SimulatedHost, UnknownCard
from fpga_common.testing.sim.profiles import PROFILES, CardProfile, UnknownProfile
from fpga_common.testing.sim.tree import NoSuchAttribute

__all__ = [
    "PROFILES",
    "CardAbsent",
    "CardProfile",
    "Fault",
    "NoSuchAttribute",
    "SimulatedCard",
    "SimulatedHost",
    "UnknownCard",
    "UnknownProfile",
    "make_gbs",
]
