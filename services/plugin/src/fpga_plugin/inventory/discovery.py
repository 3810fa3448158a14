"""One pass over all backends: which cards are there, and whose they are."""

from collections.abc import Sequence

from fpga_common.observability.logging import get_logger
from fpga_plugin.backends.protocol import Backend, FoundCard

log = get_logger(__name__)

Discovered = dict[str, tuple[Backend, FoundCard]]


class Discovery:
    """Asks every backend; what a failing one found last stays."""

    def __init__(self, backends: Sequence[Backend]) -> None:
        self._found: dict[Backend, tuple[FoundCard, ...]] = dict.fromkeys(backends, ())

    def look(self) -> Discovered:
        """The cards by id; a card that several backends find belongs to the first."""
        cards: Discovered = {}
        for backend in self._found:
            self._found[backend] = self._ask(backend)
            for card in self._found[backend]:
                cards.setdefault(card.id, (backend, card))
        return cards

    def _ask(self, backend: Backend) -> tuple[FoundCard, ...]:
        try:
            return backend.discover()
        except Exception:  # one family's defect must not hide the other families' cards
            log.exception("discovery_failed", backend=backend.name)
            return self._found[backend]
