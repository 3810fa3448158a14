"""An inventory in memory that a test sets: what the kubelet side reads in place of the store."""

import threading
import time

from fpga_common.domain.card import Card
from fpga_plugin.inventory.snapshot import Snapshot


class FixedInventory:
    """Shows the cards it was given last."""

    def __init__(self, *cards: Card) -> None:
        self._changed = threading.Condition()
        self._snapshot = Snapshot(cards, 1, time.time())

    def snapshot(self) -> Snapshot:
        """The cards now."""
        return self._snapshot

    def wait_for_change(self, after_revision: int, timeout: float) -> Snapshot:
        """The first snapshot later than ``after_revision``; the current one after ``timeout`` s."""
        with self._changed:
            self._changed.wait_for(lambda: self._snapshot.revision > after_revision, timeout)
            return self._snapshot

    def show(self, *cards: Card) -> None:
        """Show these cards from now on, as a new revision."""
        with self._changed:
            self._snapshot = Snapshot(cards, self._snapshot.revision + 1, time.time())
            self._changed.notify_all()
