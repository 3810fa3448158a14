"""The node's cards, kept current by threads of its own.

``serve`` starts it; kubelet side, agent, report and metrics read snapshots and wait for changes.
It must not know any of them.
"""

import time
from collections.abc import Callable, Sequence

from fpga_plugin.backends.protocol import Backend
from fpga_plugin.inventory.snapshot import Overlay, Snapshot, unchanged

__all__ = ["InventoryStore", "Snapshot"]


class InventoryStore:
    """Discovers cards, reads each in a thread of its own, and says when anything changes."""

    def __init__(
        self,
        backends: Sequence[Backend],
        *,
        interval_seconds: float,
        overlay: Overlay = unchanged,
        deadline_seconds: float = 2.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        raise NotImplementedError

    def start(self) -> None:
        """Start reading; returns after the first reading of every card, or its deadline."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stop reading and wait for the threads, except those that a card holds up."""
        raise NotImplementedError

    def snapshot(self) -> Snapshot:
        """The cards now."""
        raise NotImplementedError

    def wait_for_change(self, after_revision: int, timeout: float) -> Snapshot:
        """The first snapshot later than ``after_revision``; the current one after ``timeout`` s."""
        raise NotImplementedError

    def rescan(self, card_id: str) -> None:
        """Read a card anew; the result is in the snapshot on return, at most a deadline later."""
        raise NotImplementedError

    def touch(self) -> None:
        """Apply the overlay again; the result is in the snapshot on return."""
        raise NotImplementedError
