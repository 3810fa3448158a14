"""The reconciler: repairs what was lost, from the ledger and the nodes alone.

``run`` is its process. It needs Redis only to send messages again, and does everything else while
Redis is away.
"""

from fpga_bitstream_manager.settings import ManagerSettings

__all__ = ["run"]


def run(settings: ManagerSettings) -> int:
    """Reconcile until SIGTERM or SIGINT; returns the exit code. Raises InvalidConfiguration."""
    from fpga_bitstream_manager.reconciler.process import run_reconciler

    return run_reconciler(settings)
