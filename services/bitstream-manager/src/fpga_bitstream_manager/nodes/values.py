"""A report as the values of rows. Pure: the same report gives the same values."""

from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final

from fpga_bitstream_manager.ledger import Document
from fpga_bitstream_manager.nodes.heartbeats import Sensors
from fpga_common.contract.inventory import CardDocument, RegionDocument, VerdictDocument
from fpga_common.contract.report import Holder, NodeReport
from fpga_common.domain.card import RegionState
from fpga_common.domain.health import WORST_FIRST

LONGEST_MODEL: Final = 128


@dataclass(frozen=True, slots=True)
class DeviceValues:
    """What a report says of one device, under the names of ``DeviceRow``'s columns."""

    id: str
    card: str
    backend: str
    model: str
    vendor_device: str | None
    numa_node: int | None
    interface_id: str | None
    afu_id: str | None
    state: str
    reason: str
    health: str
    document: Document


def devices_of(report: NodeReport) -> dict[str, DeviceValues]:
    """Every region; a card without any stands for itself, so that it is seen and says why."""
    devices: dict[str, DeviceValues] = {}
    for card in report.inventory.cards:
        for region in card.regions or [region_of_bare_card(card)]:
            devices[region.id] = _device(card, region)
    return devices


def region_of_bare_card(card: CardDocument) -> RegionDocument:
    """The region of a card that shows none: not usable, with the card's notes as the reason."""
    return RegionDocument(
        id=card.id,
        state=RegionState.UNUSABLE,
        reason="; ".join(card.notes) or "the card shows no region",
        health=card.health,
    )


def worst_of(card: VerdictDocument, region: VerdictDocument) -> VerdictDocument:
    """The worse verdict, with the reasons of both."""
    worse = min((region, card), key=lambda verdict: WORST_FIRST.index(verdict.status))
    reasons = list(region.reasons)
    reasons += [reason for reason in card.reasons if reason not in reasons]
    return worse.model_copy(update={"reasons": reasons})


def sensors_of(report: NodeReport) -> Sensors:
    """Sensors by card: they change all the time, so the ledger does not get them."""
    return {card.id: card.sensors for card in report.inventory.cards if card.sensors}


def node_document(report: NodeReport) -> Document:
    """What a node says besides its devices."""
    return {
        "facts": report.facts.model_dump(mode="json"),
        "pools": [pool.model_dump(mode="json") for pool in report.pools],
        "cards": len(report.inventory.cards),
    }


def holder_values(holder: Holder) -> dict[str, Any]:
    """One holder under the names of ``HolderRow``'s columns."""
    return holder.model_dump() | {"since": holder.since.astimezone(UTC)}


def _device(card: CardDocument, region: RegionDocument) -> DeviceValues:
    health = worst_of(card.health, region.health)
    document = {
        "pci": card.pci.model_dump(mode="json", by_alias=True) if card.pci else None,
        "health": health.model_dump(mode="json"),
        "device_nodes": region.device_nodes,
        "versions": card.versions,
        "notes": card.notes,
    }
    return DeviceValues(
        id=region.id,
        card=card.id,
        backend=card.backend,
        model=card.model[:LONGEST_MODEL],
        vendor_device=f"{card.pci.vendor}:{card.pci.device}" if card.pci else None,
        numa_node=card.numa_node,
        interface_id=region.interface_id,
        afu_id=region.afu_id,
        state=region.state.value,
        reason=region.reason,
        health=health.status.value,
        document=document,
    )
