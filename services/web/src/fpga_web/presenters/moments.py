"""Times and durations in words."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

MINUTE: Final = 60.0
HOUR: Final = 3600.0
DAY: Final = 86400.0


@dataclass(frozen=True, slots=True)
class Moment:
    """A time for ``<time>``: machine-readable, in full, and as an age."""

    iso: str
    full: str
    age: str


def moment(at: datetime | None, now: datetime) -> Moment | None:
    """A time seen from ``now``, None for none."""
    if at is None:
        return None
    utc = at.astimezone(UTC)
    return Moment(
        iso=utc.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        full=f"{utc:%Y-%m-%d %H:%M:%S} UTC",
        age=ago((now - at).total_seconds()),
    )


def moment_of_epoch(seconds: float, now: datetime) -> Moment | None:
    """A time in seconds since the epoch, None for zero."""
    return moment(datetime.fromtimestamp(seconds, UTC), now) if seconds > 0 else None


def ago(seconds: float) -> str:
    """An age in its largest unit; what is in the future by a clock's error is ``just now``."""
    if seconds < 2:
        return "just now"
    return f"{_largest_unit(seconds)} ago"


def duration(seconds: float | None) -> str:
    """A duration in one or two units, empty for none."""
    if seconds is None:
        return ""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(round(seconds / MINUTE), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def _largest_unit(seconds: float) -> str:
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        return f"{seconds // MINUTE:.0f} min"
    if seconds < 2 * DAY:
        return f"{seconds // HOUR:.0f} h"
    return f"{seconds // DAY:.0f} days"
