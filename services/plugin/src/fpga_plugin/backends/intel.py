"""Discovery and reading of Intel cards under either driver; ``dfl`` and ``opae`` are made of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fpga_plugin.backends import pci
from fpga_plugin.backends.intel_layout import Layout
from fpga_plugin.backends.intel_plan import CardPlan, make_plan
from fpga_plugin.backends.intel_probe import probe
from fpga_plugin.backends.protocol import CardGone, FoundCard, Reading
from fpga_plugin.host.failures import Missing
from fpga_plugin.host.root import HostRoot

PLAN_SECONDS: Final = 30.0
"""How long a plan holds at most: a board controller's sensors may appear late."""


@dataclass(frozen=True, slots=True)
class _Planned:
    found: FoundCard
    plan: CardPlan
    at: float


class IntelBackend:
    """Cards that show themselves in the driver's class folder."""

    def __init__(
        self, host: HostRoot, layout: Layout, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = layout.backend
        self._host = host
        self._layout = layout
        self._clock = clock
        self._plans: dict[str, _Planned] = {}

    def discover(self) -> tuple[FoundCard, ...]:
        """Group the class entries by card; see Backend."""
        cards: dict[str, list[str]] = {}
        for entry in self._entries():
            folder = pci.function_folder(entry)
            if folder is None or not self._host.is_folder(folder):
                continue
            functions = pci.slot_folders(self._host, pci.physical_folder(self._host, folder))
            if functions:
                cards.setdefault(functions[0], []).append(entry)
        found = tuple(self._found(folder, entries) for folder, entries in sorted(cards.items()))
        self._forget_others({card.id for card in found})
        return found

    def probe(self, found: FoundCard) -> Reading:
        """Read one card by its plan; see Backend."""
        planned = self._plans.get(found.id)
        if planned is None or planned.found != found or self._old(planned):
            plan = make_plan(self._host, self._layout, found.folder, found.entries)
            planned = self._plans[found.id] = _Planned(found, plan, self._clock())
        result = probe(self._host, self._layout, found.id, planned.plan)
        if result.outdated:
            self._plans.pop(found.id, None)
        if not self._host.is_folder(found.folder):
            raise CardGone(f"{found.id} is gone")
        return result.reading

    def _entries(self) -> tuple[str, ...]:
        folder = self._layout.class_folder
        entries = []
        for name in self._host.names(folder):
            if name.startswith(self._layout.entry):
                try:
                    entries.append(self._host.resolve(f"{folder}/{name}"))
                except Missing:
                    continue
        return tuple(entry for entry in entries if self._layout.nested_region not in entry)

    def _found(self, folder: str, entries: list[str]) -> FoundCard:
        functions = pci.slot_folders(self._host, folder)
        virtual = pci.virtual_folders(self._host, functions)
        watched = (*functions, *virtual, *entries, *self._parts(entries))
        return FoundCard(
            id=folder.rpartition("/")[2],
            backend=self.name,
            folder=folder,
            entries=tuple(entries),
            structure=self._host.identity(watched),
        )

    def _parts(self, entries: list[str]) -> list[str]:
        wanted = (self._layout.fme, self._layout.port)
        parts = [
            f"{entry}/{name}"
            for entry in entries
            for name in self._host.names(entry)
            if name.startswith(wanted)
        ]
        inside = [
            f"{part}/{name}"
            for part in parts
            for name in self._host.names(part)
            if name.startswith(self._layout.pr_devices)
        ]
        return parts + inside

    def _forget_others(self, card_ids: set[str]) -> None:
        for card_id in list(self._plans):
            if card_id not in card_ids:
                self._plans.pop(card_id, None)

    def _old(self, planned: _Planned) -> bool:
        return self._clock() - planned.at > PLAN_SECONDS
