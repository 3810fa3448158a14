"""What the services of fpga-platform share. Knows no service."""

__version__ = "0.1.0"
