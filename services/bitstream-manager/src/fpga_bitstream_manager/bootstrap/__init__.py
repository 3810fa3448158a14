"""Makes what the platform's parts trust one another by: authority, certificates, tokens, password.

Called by the ``bootstrap`` command, once before the first start and again whenever a node or a
name is added. Knows files and cryptography only; never the ledger, Redis or the cluster.
"""

from fpga_bitstream_manager.bootstrap.cli import command

__all__ = ["command"]
