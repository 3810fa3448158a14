"""What one check saw in one reading. Backends make observations, ``verdict`` judges them."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What a check saw; a check that does not apply to a card makes no observation at all."""

    OK = "ok"
    FAILED = "failed"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Observation:
    """One check's finding; ``region`` is a region's id, None when it concerns the whole card.

    ``observed`` and ``expected`` are text with units.
    """

    check: str
    outcome: Outcome
    message: str = ""
    observed: str | None = None
    expected: str | None = None
    region: str | None = None
