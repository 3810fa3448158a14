"""What the agent needs of inventory and kubelet side, as Protocols. Implemented outside it."""

from typing import Protocol

from fpga_plugin.inventory.snapshot import Snapshot


class Inventory(Protocol):
    """The part of ``inventory.store.InventoryStore`` that a handover uses."""

    def snapshot(self) -> Snapshot:
        """The cards now."""
        ...

    def rescan(self, card_id: str) -> None:
        """Read a card anew; the result is in the snapshot on return."""
        ...

    def touch(self) -> None:
        """Apply reservations again; the result is in the snapshot on return."""
        ...


class DeviceHolder(Protocol):
    """Who holds a device."""

    @property
    def source(self) -> str:
        """``podresources``, ``journal`` or ``open``."""
        ...

    @property
    def namespace(self) -> str | None:
        """The pod's namespace, where known."""
        ...

    @property
    def pod(self) -> str | None:
        """The pod's name, where known."""
        ...

    @property
    def container(self) -> str | None:
        """The container's name, where known."""
        ...


class HolderSource(Protocol):
    """The part of ``kubelet.KubeletSide.holders`` that a handover uses.

    Deadlines are on the monotonic clock. Both raise a Temporary when the kubelet cannot be asked.
    """

    def fresh_holder(self, device_id: str, deadline: float) -> DeviceHolder | None:
        """Who holds the device, asked now."""
        ...

    def withdrawn(self, device_id: str, deadline: float) -> bool:
        """Whether the kubelet will give the device to nobody."""
        ...
