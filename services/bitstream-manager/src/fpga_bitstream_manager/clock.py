"""The time. One place, so that tests can set it."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Now, aware, in UTC."""
    return datetime.now(UTC)
