"""Which devices an extended resource has, and which of them a container had better get. Pure."""

from fpga_plugin.pools.membership import PoolDevice, members
from fpga_plugin.pools.preference import preferred
from fpga_plugin.pools.presence import Sighting, sight

__all__ = ["PoolDevice", "Sighting", "members", "preferred", "sight"]
