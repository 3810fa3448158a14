"""What a committed change sets off outside the ledger; all of it may be lost without harm.

Implemented with Celery and Redis by ``tasks`` and called by the service, workers and the
reconciler, always after the commit.
"""

from collections.abc import Iterable
from typing import Protocol


class Dispatcher(Protocol):
    """Tells workers that there is something to do. Never blocks for long and never raises."""

    def run(self, load_id: str) -> bool:
        """Have the load's card worked on; False when no message could be sent."""

    def cancel(self, load_id: str) -> bool:
        """Have the load's node told to stop; False when no message could be sent."""


class Notices(Protocol):
    """Tells whoever watches loads that they changed. Never blocks for long and never raises."""

    def changed(self, load_ids: Iterable[str]) -> None:
        """The loads changed."""


class Silent:
    """Nobody listens: for tests and for commands."""

    def run(self, load_id: str) -> bool:
        """Send nothing."""
        return not load_id

    def cancel(self, load_id: str) -> bool:
        """Send nothing."""
        return not load_id

    def changed(self, load_ids: Iterable[str]) -> None:
        """Tell nobody."""
