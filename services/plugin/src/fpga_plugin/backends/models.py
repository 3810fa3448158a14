"""Names of cards by PCI id, and what is known of a card before its driver says anything.

Sources: opae.cfg of OFS/opae-sdk; drivers/fpga/dfl-pci.c of Linux; pci.ids. A card's identity is
its slot, never its id: unknown ids work, they only have no name.
"""

from dataclasses import dataclass
from typing import Final

from fpga_common.domain.card import PciFunction


@dataclass(frozen=True, slots=True)
class Model:
    """A kind of card. ``reprogrammable`` is None where that depends on the image it runs."""

    name: str
    reprogrammable: bool | None = True


_BY_ID: Final[dict[str, Model]] = {
    "8086:bcbd": Model("Intel Xeon with integrated FPGA"),
    "8086:bcc0": Model("Intel Xeon with integrated FPGA"),
    "8086:09c4": Model("Intel PAC Arria 10 GX"),
    "8086:0b2b": Model("Intel PAC D5005"),
    "8086:0b30": Model("Intel PAC N3000"),
    "8086:0b32": Model("Intel PAC N3000"),
    "8086:bcce": Model("OFS card", None),
    "8086:af00": Model("OFS development kit", None),
    "8086:0ddb": Model("Intel CMC", None),
    "1c2c:1000": Model("Silicom N5010", None),
    "1c2c:1001": Model("Silicom N5011", None),
    "1c2c:1002": Model("Silicom N5013", None),
    "1c2c:1003": Model("Silicom N5014", None),
}

_BY_SUBSYSTEM: Final[dict[str, Model]] = {
    "8086:bcce 8086:138d": Model("Intel PAC D5005 (OFS)", None),
    "8086:bcce 8086:1770": Model("Intel N6000", None),
    "8086:bcce 8086:1771": Model("Intel N6001", None),
    "8086:bcce 8086:17d4": Model("Intel IPU C6100/F2000X", reprogrammable=False),
    "8086:bcce 8086:0001": Model("OFS development kit", None),
    "8086:bcce 8086:0000": Model("OFS development kit", None),
    "1ded:8103 1ded:4342": Model("Alibaba F5", None),
}


def known_model(function: PciFunction) -> Model | None:
    """The model of a card's physical function, None for ids that the table lacks."""
    ids = f"{function.vendor}:{function.device}"
    subsystem = f"{function.subsystem_vendor}:{function.subsystem_device}"
    return _BY_SUBSYSTEM.get(f"{ids} {subsystem}") or _BY_ID.get(ids)


def model_of(function: PciFunction | None) -> Model:
    """The model of a card; an unknown one is named by its ids."""
    if function is None:
        return Model("unknown card", None)
    return known_model(function) or Model(f"{function.vendor}:{function.device}", None)
