"""The command line of fpga-platform."""

__version__ = "0.1.0"
