"""The worker: takes messages from the queue and carries loads out. ``run`` is its process."""

from fpga_bitstream_manager.settings import ManagerSettings

__all__ = ["run"]


def run(settings: ManagerSettings) -> int:
    """Work until SIGTERM or SIGINT; returns the exit code. Raises InvalidConfiguration."""
    from fpga_bitstream_manager.tasks.worker import run_worker

    return run_worker(settings)
