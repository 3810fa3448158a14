"""When a node reports and what: a pure decision over the little that the reporter remembers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fpga_common.domain.names import REPORT_EVERY_SECONDS
from fpga_plugin.report.document import Report

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 15.0


class Sending(StrEnum):
    """What goes to the manager now."""

    FULL = "full"
    HEARTBEAT = "heartbeat"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Told:
    """What the manager last took. ``at`` is on the monotonic clock."""

    at: float = float("-inf")
    digest: str = ""
    urgency: str = ""
    wants_full: bool = True


def next_sending(told: Told, report: Report, now: float) -> Sending:
    """A full report on change and when asked for; every 30 s at least a sign of life."""
    if told.wants_full or told.urgency != report.urgency:
        return Sending.FULL
    if now - told.at < REPORT_EVERY_SECONDS:
        return Sending.NOTHING
    return Sending.HEARTBEAT if told.digest == report.digest else Sending.FULL


def after_sending(report: Report, now: float, *, full_wanted: bool) -> Told:
    """What the manager knows once it took a report or a heartbeat."""
    return Told(now, report.digest, report.urgency, full_wanted)


def pause_after(failures: int, jitter: float) -> float:
    """Seconds until the next try after so many failures; ``jitter`` is 0 to 1.

    Jitter keeps thousands of nodes from coming back at one moment.
    """
    longest = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(failures - 1, 10))
    return longest * (0.5 + jitter / 2)
