"""``python -m fpga_bitstream_manager.bootstrap``: the command without the rest of the manager."""

from fpga_bitstream_manager.bootstrap.cli import command

command()
