"""The ring buffer of sensor values."""

from dataclasses import replace

from fpga_plugin.agent.telemetry import KEPT_SECONDS, SAMPLE_SECONDS, SERIES_PER_NODE, Telemetry
from fpga_plugin.inventory.snapshot import Snapshot
from support.agent_doubles import CARD, card


class Clock:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def _telemetry(clock: Clock, sensors: dict[str, float]) -> Telemetry:
    snapshot = Snapshot((replace(card(), sensors=sensors),), 1, 0.0)
    return Telemetry(lambda: snapshot, clock)


def test_samples_come_back_oldest_first_and_from_a_moment_on() -> None:
    clock = Clock()
    telemetry = _telemetry(clock, {"temperature_celsius": 41.5, "power_watts": 60.0})
    for _ in range(3):
        telemetry.take()
        clock.now += SAMPLE_SECONDS

    times = [sample.unix_ms for sample in telemetry.samples(CARD)]
    assert times == sorted(times)
    assert len(times) == 6
    assert len(telemetry.samples(CARD, since_unix_ms=1_000_010_000)) == 4
    assert telemetry.samples("another") == ()
    assert {sample.value for sample in telemetry.samples()} == {41.5, 60.0}


def test_what_is_older_than_some_hours_is_forgotten() -> None:
    clock = Clock()
    telemetry = _telemetry(clock, {"temperature_celsius": 41.5})
    for _ in range(int(2 * KEPT_SECONDS / SAMPLE_SECONDS)):
        telemetry.take()
        clock.now += SAMPLE_SECONDS

    oldest = telemetry.samples()[0].unix_ms / 1000
    assert KEPT_SECONDS <= clock.now - oldest <= KEPT_SECONDS * 1.1


def test_the_number_of_series_is_bounded() -> None:
    telemetry = _telemetry(Clock(), {f"sensor_{n}": float(n) for n in range(SERIES_PER_NODE + 5)})
    telemetry.take()
    assert len(telemetry.samples()) == SERIES_PER_NODE
