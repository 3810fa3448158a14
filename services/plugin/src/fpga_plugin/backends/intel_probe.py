"""One reading of an Intel card after its plan."""

from dataclasses import dataclass

from fpga_common.domain.card import Card
from fpga_plugin.backends import pci
from fpga_plugin.backends.intel_layout import Layout
from fpga_plugin.backends.intel_plan import CardPlan
from fpga_plugin.backends.intel_region import (
    RegionReading,
    absent_region,
    read_region,
    read_registers,
)
from fpga_plugin.backends.models import Model, model_of
from fpga_plugin.backends.protocol import Reading
from fpga_plugin.backends.sensors import read_powers, read_temperatures, summarise
from fpga_plugin.health.checks import CheckName
from fpga_plugin.health.link import observe_link
from fpga_plugin.health.observation import Observation
from fpga_plugin.health.registers import observe_registers
from fpga_plugin.health.temperature import observe_temperatures
from fpga_plugin.host.failures import Unreadable
from fpga_plugin.host.root import HostRoot


@dataclass(frozen=True, slots=True)
class Probe:
    """A reading, and whether its plan no longer fits the card."""

    reading: Reading
    outdated: bool


def probe(host: HostRoot, layout: Layout, card_id: str, plan: CardPlan) -> Probe:
    """Read everything once."""
    functions = tuple(pci.read_function(host, folder) for folder in plan.functions)
    model = model_of(functions[0] if functions else None)
    regions = _regions(host, layout, card_id, plan, model)
    temperatures = read_temperatures(host, plan.sensors)
    versions, version_notes = _versions(host, plan)
    card = Card(
        id=card_id,
        backend=layout.backend,
        model=model.name,
        functions=functions,
        virtual_functions=tuple(
            pci.read_function(host, folder) for folder in plan.virtual_functions
        ),
        regions=tuple(item.region for item in regions),
        notes=(*plan.notes, *version_notes, *(note for item in regions for note in item.notes)),
        versions=versions,
        sensors=summarise(temperatures, read_powers(host, plan.sensors)),
    )
    observations = (
        *_observe_functions(host, plan, card),
        *observe_temperatures(temperatures),
        *_observe_fme(host, plan),
        *(item for region in regions for item in region.observations),
    )
    return Probe(Reading(card, observations), any(item.vanished for item in regions))


def _regions(
    host: HostRoot, layout: Layout, card_id: str, plan: CardPlan, model: Model
) -> tuple[RegionReading, ...]:
    present = {
        port.index: read_region(host, layout, card_id, plan, port, model) for port in plan.ports
    }
    absent = {
        index: absent_region(card_id, index, _why_absent(layout, plan))
        for index in range(max(plan.port_count, 0 if present else 1))
        if index not in present
    }
    return tuple(reading for _, reading in sorted((present | absent).items()))


def _why_absent(layout: Layout, plan: CardPlan) -> str:
    if plan.fme is None:
        return f"the driver shows neither {layout.fme}* nor {layout.port}*"
    return f"the driver shows no {layout.port}*: is the port given to a virtual function?"


def _observe_functions(host: HostRoot, plan: CardPlan, card: Card) -> tuple[Observation, ...]:
    if card.pci is None:
        return ()
    return (
        *pci.observe_driver(host, card.pci),
        *pci.observe_config_space(host, plan.functions[0]),
        *observe_link(card.pci.link),
    )


def _observe_fme(host: HostRoot, plan: CardPlan) -> tuple[Observation, ...]:
    return (
        *observe_registers(
            CheckName.FME_CATASTROPHIC_ERRORS, read_registers(host, plan.fatal_errors)
        ),
        *observe_registers(CheckName.FME_ERRORS, read_registers(host, plan.fme_errors)),
    )


def _versions(host: HostRoot, plan: CardPlan) -> tuple[dict[str, str], tuple[str, ...]]:
    versions: dict[str, str] = {}
    notes: list[str] = []
    for name, path in plan.versions:
        try:
            versions[name] = host.text(path)
        except Unreadable as error:
            notes.append(error.message)
    return versions, tuple(notes)
