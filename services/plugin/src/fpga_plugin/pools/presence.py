"""Devices that vanish and return: listed for a while, Unhealthy at once. Pure.

A reset or a driver reload takes a device away for a moment; a list that shrinks and grows again
would make the kubelet forget it meanwhile.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from fpga_common.domain.card import RegionState
from fpga_plugin.pools.membership import PoolDevice

KEPT_SECONDS: Final = 10.0
"""How long a vanished device stays listed."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A listed device; ``gone_at`` is when it was first missed, on the monotonic clock."""

    device: PoolDevice
    gone_at: float | None = None


def sight(
    present: Iterable[PoolDevice], before: Iterable[Sighting], now: float
) -> tuple[Sighting, ...]:
    """What is listed now: what is there, and what was there until a moment ago. Sorted by id."""
    there = {device.id: Sighting(device) for device in present}
    gone = (_missed(earlier, now) for earlier in before if earlier.device.id not in there)
    kept = (each for each in gone if each.gone_at is None or now - each.gone_at <= KEPT_SECONDS)
    return tuple(sorted((*there.values(), *kept), key=lambda sighting: sighting.device.id))


def _missed(earlier: Sighting, now: float) -> Sighting:
    if earlier.gone_at is not None:
        return earlier
    device = earlier.device
    region = replace(device.region, state=RegionState.MISSING, reason="gone or unusable")
    return Sighting(replace(device, healthy=False, region=region), gone_at=now)
