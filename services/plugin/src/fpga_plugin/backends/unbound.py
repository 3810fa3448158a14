"""Known cards that no FPGA driver shows: listed, so that one sees what is missing.

Last of the backends: a card that another one finds is never listed here. Only known PCI ids count,
since class 0x1200 alone is neither sufficient nor necessary for an FPGA. A card that has just been
plugged in is listed from the second look on, so that its driver has time to show it.
"""

from collections.abc import Iterable
from typing import Final

from fpga_common.domain.card import Card, PciFunction
from fpga_plugin.backends import pci
from fpga_plugin.backends.intel_layout import DFL
from fpga_plugin.backends.intel_region import absent_region
from fpga_plugin.backends.models import known_model, model_of
from fpga_plugin.backends.protocol import CardGone, FoundCard, Reading
from fpga_plugin.health.checks import CheckName
from fpga_plugin.health.observation import Observation, Outcome
from fpga_plugin.host.failures import Missing, Unreadable
from fpga_plugin.host.root import HostRoot

WANTED_DRIVER: Final = "dfl-pci"


class UnboundBackend:
    """Known cards on the PCI bus, whatever driver they have.

    The ids of functions that do not change are read once: they come from the kernel's memory.
    """

    name = DFL.backend

    def __init__(self, host: HostRoot) -> None:
        self._host = host
        self._known: dict[str, bool] = {}
        self._seen: frozenset[str] | None = None

    def discover(self) -> tuple[FoundCard, ...]:
        """The first physical function of each known card; see Backend."""
        names = self._host.names(pci.PCI_DEVICES)
        keys = self._host.identity(f"{pci.PCI_DEVICES}/{name}" for name in names)
        self._known = {
            key: self._known[key] if key in self._known else self._is_known(name)
            for key, name in zip(keys, names, strict=True)
        }
        there = self._cards(name for key, name in zip(keys, names, strict=True) if self._known[key])
        seen, self._seen = self._seen, frozenset(card.id for card in there)
        return tuple(card for card in there if seen is None or card.id in seen)

    def probe(self, found: FoundCard) -> Reading:
        """Say what the card is and which driver is missing; see Backend."""
        folders = pci.slot_folders(self._host, found.folder)
        functions = tuple(pci.read_function(self._host, folder) for folder in folders)
        if not functions:
            raise CardGone(f"{found.id} is gone")
        reason = why_unbound(functions)
        region = absent_region(found.id, 0, reason)
        card = Card(
            id=found.id,
            backend=self.name,
            model=model_of(functions[0]).name,
            functions=functions,
            regions=(region.region,),
            notes=(reason,),
        )
        driver = Observation(CheckName.DRIVER.value, Outcome.FAILED, reason)
        return Reading(card, (driver, *region.observations))

    def _cards(self, names: Iterable[str]) -> tuple[FoundCard, ...]:
        first = {}
        for name in names:
            functions = pci.slot_folders(self._host, self._folder(name))
            if functions:
                first[functions[0]] = self._host.identity(functions)
        return tuple(
            FoundCard(folder.rpartition("/")[2], self.name, structure, folder)
            for folder, structure in sorted(first.items())
        )

    def _folder(self, name: str) -> str:
        try:
            return self._host.resolve(f"{pci.PCI_DEVICES}/{name}")
        except Missing:
            return ""

    def _is_known(self, name: str) -> bool:
        folder = self._folder(name)
        if pci.address_in(folder) is None or self._host.link(f"{folder}/physfn") is not None:
            return False
        try:
            self._host.text(f"{folder}/vendor")
        except Unreadable:
            return False
        return known_model(pci.read_function(self._host, folder)) is not None


def why_unbound(functions: tuple[PciFunction, ...]) -> str:
    """The reason in words."""
    drivers = [function.driver for function in functions if function.driver]
    if not drivers:
        return f"driver missing: no driver is bound, expected {WANTED_DRIVER}"
    if WANTED_DRIVER in drivers:
        return f"driver {WANTED_DRIVER} is bound, but shows no FPGA region"
    return f"driver missing: {drivers[0]} is bound, expected {WANTED_DRIVER}"
