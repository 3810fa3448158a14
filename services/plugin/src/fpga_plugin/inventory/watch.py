"""One card being watched: its thread, what is known of it, and since when it is gone.

Only ``store`` uses it, holds its lock to call ``seen`` and ``gone``, and applies findings under it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from fpga_common.domain.card import Card
from fpga_common.observability.logging import get_logger
from fpga_plugin.backends.protocol import Backend, CardGone, FoundCard, Reading
from fpga_plugin.inventory.judged import Judged, after_failure, after_reading, after_vanishing
from fpga_plugin.inventory.repeating import Repeating

log = get_logger(__name__)

LISTED_WHEN_GONE_SECONDS: Final = 10.0
"""A card that vanishes and returns within this time stays listed."""

CONFIRMATION: Final = 0.25
"""The part of the interval after which a suspected fault is looked at again."""


@dataclass(frozen=True, slots=True)
class ReadingBroke:
    """A reading raised what a backend should have made an observation of."""

    error: Exception

    @property
    def message(self) -> str:
        """What the card's verdict says."""
        return f"the card cannot be read: {type(self.error).__name__}: {self.error}"


Result = Reading | CardGone | ReadingBroke


class Watch:
    """Reads one card again and again; every new finding is applied by ``changed``."""

    def __init__(
        self,
        backend: Backend,
        found: FoundCard,
        *,
        interval_seconds: float,
        deadline_seconds: float,
        clock: Callable[[], float],
        changed: Callable[[Callable[[], None]], None],
    ) -> None:
        self._backend = backend
        self._judged = Judged(found)
        self._interval = interval_seconds
        self._deadline = deadline_seconds
        self._clock = clock
        self._changed = changed
        self._gone_at: float | None = None
        self._problem = ""
        self.reading = self._new_reading()

    @property
    def card(self) -> Card | None:
        """The card with its verdicts, None before anything is known."""
        return self._judged.card

    @property
    def is_gone(self) -> bool:
        """Whether the card is not there now."""
        return self._gone_at is not None

    @property
    def expired(self) -> bool:
        """Whether the card is gone for so long that it is no longer listed."""
        gone = self._gone_at
        return gone is not None and time.monotonic() - gone > LISTED_WHEN_GONE_SECONDS

    def seen(self, backend: Backend, found: FoundCard) -> None:
        """Discovery saw the card; it is read at once if it is back or looks different."""
        different = found != self._judged.found
        self._backend = backend
        self._judged = replace(self._judged, found=found)
        if self._gone_at is not None:
            log.info("card_returned", card=found.id)
            self._gone_at = None
            self.reading = self._new_reading()
            self.reading.start()
        elif different:
            self.reading.wake()

    def gone(self) -> None:
        """The card is not there any more."""
        if self._gone_at is None:
            log.warning("card_vanished", card=self._judged.found.id)
            self._gone_at = time.monotonic()
            self._judged = after_vanishing(self._judged, self._clock())
            self.reading.stop()

    def _new_reading(self) -> Repeating[Result]:
        return Repeating(
            f"inventory-{self._judged.found.id}",
            self._read,
            finished=self._finished,
            overdue=self._overdue,
            deadline_seconds=self._deadline,
        )

    def _read(self) -> Result:
        try:
            return self._backend.probe(self._judged.found)
        except CardGone as gone:
            return gone
        except Exception as error:  # whatever breaks the reading of a card is a fault of that card
            return ReadingBroke(error)

    def _finished(self, result: Result) -> float:
        self._changed(lambda: self._take(result))
        soon = self._judged.memory.suspicious
        return self._interval * (CONFIRMATION if soon else 1.0)

    def _take(self, result: Result) -> None:
        if isinstance(result, CardGone):
            self.gone()
        elif self._gone_at is not None:
            return
        elif isinstance(result, ReadingBroke):
            self._broke(result)
        else:
            self._problem = ""
            self._judged = after_reading(self._judged, result, self._clock())

    def _broke(self, result: ReadingBroke) -> None:
        if result.message != self._problem:
            log.error("card_reading_broke", card=self._judged.found.id, exc_info=result.error)
        self._problem = result.message
        self._judged = after_failure(self._judged, result.message, self._clock())

    def _overdue(self) -> None:
        log.warning("card_hangs", card=self._judged.found.id, deadline_seconds=self._deadline)
        self._changed(self._hang)

    def _hang(self) -> None:
        if self._gone_at is None:
            message = f"reading the card takes longer than {self._deadline:g} s"
            self._judged = after_failure(self._judged, message, self._clock())
