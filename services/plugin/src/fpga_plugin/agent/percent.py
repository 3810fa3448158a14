"""How far an operation is, as one number for one bar.

The shares follow what a load of some megabytes takes on a card: the write is most of it.
"""

from typing import Final

from fpga_common.domain.operation import Phase

SHARES: Final[dict[Phase, tuple[float, float]]] = {
    Phase.ACCEPTED: (0.0, 2.0),
    Phase.FETCHING: (2.0, 15.0),
    Phase.CHECKING: (15.0, 18.0),
    Phase.DRAINING: (18.0, 25.0),
    Phase.PROGRAMMING: (25.0, 94.0),
    Phase.VERIFYING: (94.0, 100.0),
    Phase.DONE: (100.0, 100.0),
}


def overall_percent(phase: Phase, fraction: float, *, before: float) -> float:
    """Percent of the whole operation, 0 to 100, never below ``before``.

    ``fraction`` is 0 to 1 of the phase; a failure stays where the operation was.
    """
    if phase is Phase.FAILED:
        return before
    start, end = SHARES[phase]
    return max(before, start + (end - start) * min(1.0, max(0.0, fraction)))
