"""What the kubelet side needs from the rest of the plugin, as Protocols."""

from collections.abc import Callable, Sequence
from typing import Protocol

from fpga_plugin.inventory.snapshot import Snapshot


class Inventory(Protocol):
    """The part of ``inventory.store.InventoryStore`` that the kubelet side reads."""

    def snapshot(self) -> Snapshot:
        """The cards now."""
        ...

    def wait_for_change(self, after_revision: int, timeout: float) -> Snapshot:
        """The first snapshot later than ``after_revision``; the current one after ``timeout`` s."""
        ...


class HoldSink(Protocol):
    """Where Allocate writes down who holds what."""

    def allocated(self, resource: str, device_ids: Sequence[str]) -> Callable[[], None]:
        """Devices are held from now on; the answer takes that back, for an allocation refused."""
        ...
