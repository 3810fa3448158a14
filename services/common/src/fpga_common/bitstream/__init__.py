"""Reads bitstream files: what they say of themselves, and whether they may be programmed.

Used by the manager at upload, by the node before each write, and by ``fpgactl``. Knows no
hardware and no storage; standard library only.
"""

from fpga_common.bitstream.digest import digest_of
from fpga_common.bitstream.gbs import inspect, inspect_file
from fpga_common.domain.bitstream import MalformedBitstream

__all__ = ["MalformedBitstream", "digest_of", "inspect", "inspect_file"]
