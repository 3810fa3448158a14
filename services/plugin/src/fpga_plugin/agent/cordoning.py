"""Cordons and uncordons devices and clears their quarantine. Called by the gRPC servicer."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from fpga_common.domain.errors import Permanent
from fpga_common.observability.logging import get_logger
from fpga_plugin.agent.ports import Inventory
from fpga_plugin.agent.reservations import Reservations
from fpga_plugin.inventory.snapshot import Snapshot

log = get_logger(__name__)


class Wish(StrEnum):
    """What an administrator wants for a device."""

    CORDON = "cordon"
    UNCORDON = "uncordon"
    CLEAR_QUARANTINE = "clear_quarantine"


class UnknownDevice(Permanent):
    """The id is neither a card's nor a region's."""

    code = "unknown_device"


@dataclass(frozen=True, slots=True)
class Cordoning:
    """Changes reservations on an administrator's word; the kubelet sees it on return."""

    inventory: Inventory
    reservations: Reservations

    def set_reserved(
        self, device_id: str, wish: Wish, reason: str, requested_by: str
    ) -> tuple[str, ...]:
        """Apply ``wish`` to a region or to every region of a card; return the regions' ids.

        Raises UnknownDevice, and OSError when the disk does not take it; regions before the one
        that it did not take are changed then.
        """
        region_ids = regions_of(self.inventory.snapshot(), device_id)
        change = self._change(wish, reason)
        try:
            for region_id in region_ids:
                change(region_id)
        finally:
            self.inventory.touch()
        log.info(
            "reservation_changed",
            device=device_id,
            wish=wish.value,
            reason=reason,
            requested_by=requested_by,
        )
        return region_ids

    def _change(self, wish: Wish, reason: str) -> Callable[[str], None]:
        changes: dict[Wish, Callable[[str], None]] = {
            Wish.CORDON: lambda region_id: self.reservations.cordon(region_id, reason),
            Wish.UNCORDON: self.reservations.uncordon,
            Wish.CLEAR_QUARANTINE: self.reservations.clear,
        }
        return changes[wish]


def regions_of(snapshot: Snapshot, device_id: str) -> tuple[str, ...]:
    """The regions that an id means. Raises UnknownDevice."""
    if snapshot.region(device_id) is not None:
        return (device_id,)
    card = snapshot.card(device_id)
    if card is None or not card.regions:
        raise UnknownDevice(f"this node has no card or region {device_id}", actual=device_id)
    return tuple(region.id for region in card.regions)
