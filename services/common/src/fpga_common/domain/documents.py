"""The inventory document: cards as plain JSON values, the same in CLI, agent, report and API."""

from collections.abc import Iterable
from typing import Any

from fpga_common.domain.card import Card, PciFunction, Region
from fpga_common.domain.health import Verdict

Document = dict[str, Any]


def inventory_document(cards: Iterable[Card]) -> Document:
    """The whole inventory of a node; cards sorted by id."""
    return {"cards": [card_document(card) for card in sorted(cards, key=lambda card: card.id)]}


def card_document(card: Card) -> Document:
    """One card of the inventory document."""
    return {
        "id": card.id,
        "backend": card.backend,
        "model": card.model,
        "pci": function_document(card.pci) if card.pci else None,
        "numa_node": card.numa_node,
        "health": verdict_document(card.health),
        "regions": [region_document(region) for region in card.regions],
        "functions": [function_document(function) for function in card.functions],
        "vfs": [function_document(function) for function in card.virtual_functions],
        "versions": dict(card.versions),
        "sensors": dict(card.sensors),
        "notes": list(card.notes),
    }


def region_document(region: Region) -> Document:
    """One region of the inventory document."""
    return {
        "id": region.id,
        "interface_id": region.interface_id,
        "afu_id": region.afu_id,
        "state": region.state.value,
        "reason": region.reason,
        "device_nodes": list(region.device_nodes),
        "health": verdict_document(region.health),
    }


def verdict_document(verdict: Verdict) -> Document:
    """A verdict with its reasons; times are seconds since the epoch."""
    return {
        "status": verdict.status.value,
        "since": verdict.since,
        "reasons": [
            {
                "check": reason.check,
                "severity": reason.severity.value,
                "message": reason.message,
                "since": reason.since,
                "observed": reason.observed,
                "expected": reason.expected,
            }
            for reason in verdict.reasons
        ],
    }


def function_document(function: PciFunction) -> Document:
    """One PCI function; speeds in GT/s."""
    return {
        "address": str(function.address),
        "vendor": function.vendor,
        "device": function.device,
        "subsystem_vendor": function.subsystem_vendor,
        "subsystem_device": function.subsystem_device,
        "class": function.pci_class,
        "driver": function.driver,
        "numa_node": function.numa_node,
        "link": {
            "current_speed": function.link.current_speed,
            "max_speed": function.link.max_speed,
            "current_width": function.link.current_width,
            "max_width": function.link.max_width,
        },
        "physical_function": str(function.physical_function)
        if function.physical_function
        else None,
    }
