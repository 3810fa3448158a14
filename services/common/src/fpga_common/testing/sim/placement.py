"""Where a card sits on its host: slot and the numbers that the kernel counts host-wide."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from fpga_common.domain.ids import InvalidId, PciAddress
from fpga_common.domain.simulation import CONTROL_FOLDER
from fpga_common.testing.sim.profiles import CardProfile, profile_named

USUAL_BUSES = (0x3B, 0x5E, 0x86, 0xAF, 0xD8, 0x1A)


@dataclass(frozen=True, slots=True)
class Placement:
    """One card's place. ``unit`` numbers its FME, port, manager and bridge."""

    profile: str
    card_id: str
    numa_node: int | None
    unit: int
    first_region: int
    first_hwmon: int

    @property
    def card_profile(self) -> CardProfile:
        """The profile's data."""
        return profile_named(self.profile)

    @property
    def slot(self) -> str:
        """The PCI address without function."""
        return PciAddress.parse(self.card_id).slot

    @property
    def bridge(self) -> str:
        """The folder, below the host root, that holds every function of the card."""
        address = PciAddress.parse(self.card_id)
        upstream = f"{address.domain:04x}:{address.bus - 1:02x}"
        return f"sys/devices/pci{upstream}/{upstream}:{address.device:02x}.0"

    @property
    def nested_region(self) -> int:
        """The number of the region that takes AFUs."""
        return self.first_region + sum(f.region for f in self.card_profile.functions)


def place(
    profile: CardProfile, slot: str | None, numa_node: int | None, others: tuple[Placement, ...]
) -> Placement:
    """The next card's place beside ``others``. Raises InvalidId for a wrong or taken slot."""
    card_id = f"{_require_free(slot, others) if slot else _free_slot(others)}.0"
    return Placement(
        profile=profile.name,
        card_id=card_id,
        numa_node=numa_node,
        unit=max((other.unit + 1 for other in others), default=0),
        first_region=max((other.nested_region + 1 for other in others), default=0),
        first_hwmon=max(
            (other.first_hwmon + len(other.card_profile.hwmons) for other in others), default=0
        ),
    )


def _require_free(slot: str, others: tuple[Placement, ...]) -> str:
    address = PciAddress.parse(slot if "." in slot else f"{slot}.0")
    if address.bus == 0:
        raise InvalidId(f"no card sits on bus 0: {slot}", expected="bus 01 or above", actual=slot)
    if any(other.slot == address.slot for other in others):
        raise InvalidId(f"slot {slot} has a card", expected="a free slot", actual=slot)
    return address.slot


def _free_slot(others: tuple[Placement, ...]) -> str:
    taken = {PciAddress.parse(other.card_id).bus for other in others}
    buses = (*USUAL_BUSES, *range(1, 256))
    return f"0000:{next(bus for bus in buses if bus not in taken):02x}:00"


def record_folder(root: Path) -> Path:
    """Where the host's placements are kept."""
    return root / CONTROL_FOLDER / "cards"


def write_placement(root: Path, placement: Placement) -> None:
    """Keep a placement for other processes."""
    path = record_folder(root) / f"{placement.card_id}.json"
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(asdict(placement), indent=2), encoding="utf-8")
    temporary.replace(path)


def read_placements(root: Path) -> tuple[Placement, ...]:
    """Every card's placement, sorted by card id."""
    paths = sorted(record_folder(root).glob("*.json"))
    return tuple(Placement(**json.loads(path.read_text(encoding="utf-8"))) for path in paths)
