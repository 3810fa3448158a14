"""One consistent view of the node's cards. A pure value; ``store`` makes it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from fpga_common.domain.card import Card, Region


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The cards at one moment, sorted by id.

    ``revision`` grows with every change of anything but sensor values, so that a consumer who saw
    this revision has nothing to do. ``taken_at`` is seconds since the epoch.
    """

    cards: tuple[Card, ...]
    revision: int
    taken_at: float

    def card(self, card_id: str) -> Card | None:
        """The card with that id."""
        return next((card for card in self.cards if card.id == card_id), None)

    def region(self, region_id: str) -> tuple[Card, Region] | None:
        """The region with that id and its card."""
        for card in self.cards:
            for region in card.regions:
                if region.id == region_id:
                    return card, region
        return None


Overlay = Callable[[Card], Card]


def unchanged(card: Card) -> Card:
    """The overlay that changes nothing."""
    return card


def differ(before: tuple[Card, ...], after: tuple[Card, ...]) -> bool:
    """Whether anything but sensor values differs."""
    return [_without_sensors(card) for card in before] != [_without_sensors(card) for card in after]


def _without_sensors(card: Card) -> Card:
    return replace(card, sensors={})
