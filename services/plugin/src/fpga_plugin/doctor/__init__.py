"""``fpga-plugin doctor``: finds out, without the daemon, why a node's FPGAs do not work.

Called by ``cli`` alone. Each check looks for itself and changes nothing.
"""

from fpga_plugin.doctor.command import run

__all__ = ["run"]
