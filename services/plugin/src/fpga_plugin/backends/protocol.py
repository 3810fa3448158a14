"""What a backend gives to the inventory. Backends know sysfs; they must not know each other."""

from dataclasses import dataclass
from typing import Protocol

from fpga_common.domain.card import Card
from fpga_common.domain.errors import Temporary
from fpga_plugin.health.observation import Observation


@dataclass(frozen=True, slots=True)
class FoundCard:
    """A card that discovery saw. ``structure`` changes whenever the tree below the card does.

    ``folder`` and ``entries`` are the backend's own: where it found the card.
    """

    id: str
    backend: str
    structure: tuple[str, ...]
    folder: str = ""
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reading of a card found: the card without a verdict, and what the checks saw."""

    card: Card
    observations: tuple[Observation, ...]


class CardGone(Temporary):
    """The card left while it was read."""

    code = "card_gone"


class Backend(Protocol):
    """One family of drivers."""

    @property
    def name(self) -> str:
        """What ``Card.backend`` says."""
        ...

    def discover(self) -> tuple[FoundCard, ...]:
        """The cards that are there, from directory entries and links alone.

        Never raises for one bad card. Reads nothing from the hardware, so that it cannot hang.
        """
        ...

    def probe(self, found: FoundCard) -> Reading:
        """Read one card. May hang as long as the hardware does; may be called from any thread.

        Raises:
            CardGone: the card is not there any more. Everything else that goes wrong is part of
                the reading.
        """
        ...
