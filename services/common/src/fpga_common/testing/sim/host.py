"""A folder that looks like a machine with FPGA cards."""

from pathlib import Path

from fpga_common.domain.errors import Permanent
from fpga_common.domain.simulation import SimulatedBehaviour, write_behaviour
from fpga_common.testing.sim import presence
from fpga_common.testing.sim.card import SimulatedCard
from fpga_common.testing.sim.files import locked
from fpga_common.testing.sim.placement import (
    place,
    read_placements,
    record_folder,
    write_placement,
)
from fpga_common.testing.sim.profiles import profile_named

_FOLDERS = (
    "dev",
    "sys/bus/pci/devices",
    "sys/bus/platform",
    "sys/class/fpga_bridge",
    "sys/class/fpga_manager",
    "sys/class/fpga_region",
    "sys/class/hwmon",
    "sys/devices",
)


class UnknownCard(Permanent):
    """The host has no such card."""

    code = "unknown_card"


class SimulatedHost:
    """The host root ``root``, made if absent; another process may use the same folder."""

    def __init__(self, root: Path) -> None:
        self.root = Path(root)
        record_folder(self.root).mkdir(parents=True, exist_ok=True)
        for folder in _FOLDERS:
            (self.root / folder).mkdir(parents=True, exist_ok=True)

    @property
    def cards(self) -> tuple[SimulatedCard, ...]:
        """Every card, also unplugged ones, sorted by id."""
        return tuple(SimulatedCard(self.root, place) for place in read_placements(self.root))

    def card(self, card_id: str) -> SimulatedCard:
        """The card with that id. Raises UnknownCard."""
        for card in self.cards:
            if card.id == card_id:
                return card
        known = ", ".join(card.id for card in self.cards) or "no card"
        raise UnknownCard(f"no card {card_id}", expected=known, actual=card_id)

    def add_card(
        self, profile: str, slot: str | None = None, numa_node: int | None = 0
    ) -> SimulatedCard:
        """Plug in a new card; ``slot`` is ``0000:3b:00``, by default a free one.

        Raises:
            UnknownProfile: no such profile.
            InvalidId: the slot is taken or no PCI slot.
        """
        with locked(self.root):
            placement = place(profile_named(profile), slot, numa_node, read_placements(self.root))
            presence.build(self.root, placement)
            presence.plug(self.root, placement)
            write_behaviour(self.root, placement.card_id, SimulatedBehaviour())
            write_placement(self.root, placement)
        return SimulatedCard(self.root, placement)
