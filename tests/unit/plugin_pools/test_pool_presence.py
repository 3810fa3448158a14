"""Devices that vanish: unhealthy at once, listed for ten seconds, back as if nothing was."""

from fpga_plugin.inventory.snapshot import Snapshot
from fpga_plugin.pools import PoolDevice, Sighting, members, sight
from fpga_plugin.settings import PoolSettings
from support.plugin_cards import make_card

BOTH = members(PoolSettings(), Snapshot((make_card(1), make_card(2)), 1, 0.0))
FIRST = BOTH[:1]


def healths(sightings: tuple[Sighting, ...]) -> list[bool]:
    return [sighting.device.healthy for sighting in sightings]


def steps(*times: tuple[float, tuple[PoolDevice, ...]]) -> tuple[Sighting, ...]:
    sightings: tuple[Sighting, ...] = ()
    for now, present in times:
        sightings = sight(present, sightings, now)
    return sightings


def test_a_device_that_vanishes_is_unhealthy_at_once_however_long_it_was_there() -> None:
    assert healths(steps((0.0, BOTH), (5000.0, FIRST))) == [True, False]


def test_a_vanished_device_says_why_it_is_not_handed_out() -> None:
    gone = steps((0.0, BOTH), (1.0, FIRST))[1].device
    assert gone.why_unhealthy == "missing: gone or unusable"


def test_a_vanished_device_stays_listed_for_ten_seconds() -> None:
    assert len(steps((0.0, BOTH), (100.0, FIRST), (110.0, FIRST))) == 2
    assert len(steps((0.0, BOTH), (100.0, FIRST), (110.1, FIRST))) == 1


def test_a_device_that_returns_is_healthy_again_and_may_vanish_anew() -> None:
    assert healths(steps((0.0, BOTH), (1.0, FIRST), (9.0, BOTH))) == [True, True]
    again = steps((0.0, BOTH), (1.0, FIRST), (9.0, BOTH), (15.0, FIRST), (24.0, FIRST))
    assert healths(again) == [True, False]


def test_a_device_that_was_never_there_is_not_listed() -> None:
    assert sight((), (), 0.0) == ()
