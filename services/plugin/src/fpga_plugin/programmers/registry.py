"""Which programmer a card gets. A new way to program is one module and one line here."""

from pathlib import Path
from typing import Final

from fpga_common.domain.card import Card
from fpga_common.domain.operation import FailureCode
from fpga_common.domain.simulation import is_simulated
from fpga_plugin.failures import operation_failed
from fpga_plugin.programmers.protocol import Programmer, ProgrammerFactory
from fpga_plugin.programmers.simulated import SimulatedProgrammer

BY_BACKEND: Final[dict[str, ProgrammerFactory]] = {}
"""Programmers of real hardware by the name of the card's backend."""

SIMULATED_BACKENDS: Final = frozenset({"dfl"})
"""Backends whose simulated cards can be programmed."""


class Programmers:
    """The programmers of one host."""

    def __init__(self, host_root: Path) -> None:
        self._host_root = host_root

    def for_card(self, card: Card) -> Programmer:
        """The programmer of a card. Raises OperationFailed(unsupported)."""
        if is_simulated(self._host_root) and card.backend in SIMULATED_BACKENDS:
            return SimulatedProgrammer(self._host_root)
        factory = BY_BACKEND.get(card.backend)
        if factory is None:
            raise operation_failed(
                FailureCode.UNSUPPORTED,
                f"cards of backend {card.backend} cannot be programmed",
                expected=", ".join(sorted(BY_BACKEND)) or "simulated hardware",
                actual=card.backend,
            )
        return factory(self._host_root)
