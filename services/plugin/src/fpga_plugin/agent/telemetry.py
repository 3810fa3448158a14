"""Hours of sensor values in a few megabytes. Written by a thread of its own, read by the agent."""

import threading
import time
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from fpga_common.domain.card import Card
from fpga_common.observability.logging import get_logger
from fpga_plugin.inventory.snapshot import Snapshot

SAMPLE_SECONDS: Final = 10.0
KEPT_SECONDS: Final = 4 * 3600
SERIES_PER_NODE: Final = 1024
"""At 8 bytes a sample this is at most 12 MB; 64 cards with 16 sensors each."""

_SEGMENT: Final = 120

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of one sensor; the sensor's name carries the unit."""

    unix_ms: int
    card_id: str
    sensor: str
    value: float


@dataclass(slots=True)
class _Series:
    """Segments of 20 minutes: packed, and dropped as wholes."""

    segments: "deque[tuple[array[int], array[float]]]" = field(
        default_factory=lambda: deque(maxlen=int(KEPT_SECONDS / SAMPLE_SECONDS) // _SEGMENT + 1)
    )

    def add(self, unix_seconds: int, value: float) -> None:
        if not self.segments or len(self.segments[-1][0]) >= _SEGMENT:
            self.segments.append((array("I"), array("f")))
        times, values = self.segments[-1]
        times.append(unix_seconds)
        values.append(value)

    def since(self, unix_ms: int) -> Iterator[tuple[int, float]]:
        for times, values in self.segments:
            for seconds, value in zip(times, values, strict=True):
                if seconds * 1000 >= unix_ms:
                    yield seconds * 1000, value


class Telemetry:
    """The ring buffer."""

    def __init__(
        self, snapshot: Callable[[], Snapshot], clock: Callable[[], float] = time.time
    ) -> None:
        self._snapshot = snapshot
        self._clock = clock
        self._lock = threading.Lock()
        self._series: dict[tuple[str, str], _Series] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample_on, name="telemetry", daemon=True)

    def start(self) -> None:
        """Take a sample now and every ten seconds."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(SAMPLE_SECONDS)

    def take(self) -> None:
        """Keep every sensor's value of this moment."""
        now = int(self._clock())
        for card in self._snapshot().cards:
            self._keep(card, now)

    def samples(self, card_id: str = "", since_unix_ms: int = 0) -> tuple[Sample, ...]:
        """What is held of one card, or of all, oldest first."""
        with self._lock:
            found = [
                Sample(unix_ms, card, sensor, value)
                for (card, sensor), series in self._series.items()
                if card_id in ("", card)
                for unix_ms, value in series.since(since_unix_ms)
            ]
        return tuple(sorted(found, key=lambda sample: sample.unix_ms))

    def _keep(self, card: Card, now: int) -> None:
        with self._lock:
            for sensor, value in card.sensors.items():
                series = self._series.get((card.id, sensor))
                if series is None and len(self._series) < SERIES_PER_NODE:
                    series = self._series[card.id, sensor] = _Series()
                if series is not None:
                    series.add(now, value)

    def _sample_on(self) -> None:
        while True:
            try:
                self.take()
            except Exception:  # a value that cannot be kept must not end the keeping of all others
                log.exception("sample_not_taken")
            if self._stop.wait(SAMPLE_SECONDS):
                return
