"""The current devices of one pool: written by the feed and by Allocate, read by streams."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from fpga_plugin.inventory.snapshot import Snapshot
from fpga_plugin.pools import PoolDevice, Sighting, members, sight
from fpga_plugin.settings import PoolSettings

_NOTHING_SEEN: Final = -1


@dataclass(frozen=True, slots=True)
class Listing:
    """The devices with a version that grows whenever the kubelet has something new to learn."""

    version: int
    devices: tuple[PoolDevice, ...]


class PoolState:
    """Devices of a pool; ``refresh`` makes them as new as a snapshot. Thread-safe.

    ``earlier`` are the pools that come first where both want a region.
    """

    def __init__(
        self,
        pool: PoolSettings,
        earlier: Sequence[PoolSettings] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pool = pool
        self._earlier = tuple(earlier)
        self._clock = clock
        self._changed = threading.Condition()
        self._revision = _NOTHING_SEEN
        self._sightings: tuple[Sighting, ...] = ()
        self._listing = Listing(0, ())
        self._by_id: dict[str, PoolDevice] = {}

    @property
    def listing(self) -> Listing:
        """The devices now."""
        return self._listing

    def device(self, device_id: str) -> PoolDevice | None:
        """The device with that id."""
        return self._by_id.get(device_id)

    def refresh(self, snapshot: Snapshot) -> None:
        """Take a snapshot in, unless a later one is in already."""
        with self._changed:
            if snapshot.revision < self._revision:
                return
            if snapshot.revision == self._revision and not self._anything_gone():
                return
            self._revision = snapshot.revision
            self._take(snapshot)

    def wake(self) -> None:
        """Let every waiting stream look whether it has ended."""
        with self._changed:
            self._changed.notify_all()

    def wait_newer(self, version: int, ended: Callable[[], bool], timeout: float) -> Listing | None:
        """The first listing other than ``version``; None when ``ended`` or after ``timeout`` s."""
        with self._changed:
            self._changed.wait_for(
                lambda: ended() or self._listing.version != version, timeout=timeout
            )
            if ended() or self._listing.version == version:
                return None
            return self._listing

    def _anything_gone(self) -> bool:
        """Whether a vanished device is still listed, whose time may be over."""
        return any(sighting.gone_at is not None for sighting in self._sightings)

    def _take(self, snapshot: Snapshot) -> None:
        present = members(self.pool, snapshot, self._earlier)
        self._sightings = sight(present, self._sightings, self._clock())
        devices = tuple(sighting.device for sighting in self._sightings)
        self._by_id = {device.id: device for device in devices}
        news = _visible(devices) != _visible(self._listing.devices) or self._listing.version == 0
        self._listing = Listing(self._listing.version + news, devices)
        if news:
            self._changed.notify_all()


def _visible(devices: tuple[PoolDevice, ...]) -> list[tuple[str, bool, int | None]]:
    return [(device.id, device.healthy, device.numa_node) for device in devices]
