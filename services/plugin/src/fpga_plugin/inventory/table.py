"""The inventory as a table for people. Pure; the command line prints it."""

from collections.abc import Sequence
from typing import Final

from fpga_common.domain.card import Card, Region

HEADINGS: Final = ("REGION", "MODEL", "BACKEND", "HEALTH", "STATE", "INTERFACE", "AFU", "NODES")
UNKNOWN: Final = "-"

Row = tuple[str, ...]


def inventory_table(cards: Sequence[Card]) -> str:
    """One line a region with aligned columns, and the reasons for what is not healthy below."""
    if not cards:
        return "no FPGA cards found"
    rows = [HEADINGS, *(row for card in cards for row in _rows(card))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, *(line for card in cards for line in _reasons(card))])


def _rows(card: Card) -> list[Row]:
    if not card.regions:
        health = card.health.status.value
        unknown = (UNKNOWN,) * 4
        return [(card.id, card.model, card.backend, health, *unknown)]
    return [_row(card, region) for region in card.regions]


def _row(card: Card, region: Region) -> Row:
    return (
        region.id,
        card.model,
        card.backend,
        region.health.status.value,
        region.state.value,
        region.interface_id or UNKNOWN,
        region.afu_id or UNKNOWN,
        ",".join(region.device_nodes) or UNKNOWN,
    )


def _reasons(card: Card) -> list[str]:
    reasons = [f"{reason.severity.value}: {reason.message}" for reason in card.health.reasons]
    notes = [f"note: {note}" for note in card.notes]
    return [f"{card.id} {text}" for text in dict.fromkeys([*reasons, *notes])]
