"""The PCI link against what the card could do. Pure."""

from fpga_common.domain.card import PciLink
from fpga_plugin.health.checks import CheckName
from fpga_plugin.health.observation import Observation, Outcome

_DEAD_WIDTHS = (0, 255)


def observe_link(link: PciLink) -> tuple[Observation, ...]:
    """Compare current and maximal speed and width; nothing where the machine does not tell."""
    if link.max_speed is None and link.max_width is None:
        return ()
    observed, expected = (
        describe(link.current_speed, link.current_width),
        describe(link.max_speed, link.max_width),
    )
    if link.current_speed is None or link.current_width is None:
        message = "the PCI link's state cannot be read"
        return (_observation(Outcome.UNREADABLE, message, observed, expected),)
    if _slower(link):
        message = f"the PCI link runs at {observed} of {expected}"
        return (_observation(Outcome.FAILED, message, observed, expected),)
    return (_observation(Outcome.OK, "", observed, expected),)


def describe(speed: float | None, width: int | None) -> str:
    """A link in words: ``8 GT/s ×8``."""
    lanes = "?" if width is None else str(width)
    return f"{'?' if speed is None else f'{speed:g}'} GT/s ×{lanes}"


def _slower(link: PciLink) -> bool:
    speed, width = link.current_speed or 0.0, link.current_width or 0
    return width in _DEAD_WIDTHS or speed < (link.max_speed or 0.0) or width < (link.max_width or 0)


def _observation(outcome: Outcome, message: str, observed: str, expected: str) -> Observation:
    return Observation(CheckName.PCI_LINK.value, outcome, message, observed, expected)
