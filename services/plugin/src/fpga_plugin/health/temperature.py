"""Temperatures against the card's own limits. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from fpga_plugin.health.checks import CheckName
from fpga_plugin.health.observation import Observation, Outcome


@dataclass(frozen=True, slots=True)
class Temperature:
    """One sensor in °C; ``value`` is None where unreadable, a limit where there is none."""

    label: str
    value: float | None
    maximum: float | None = None
    critical: float | None = None


def observe_temperatures(sensors: Sequence[Temperature]) -> tuple[Observation, ...]:
    """Both temperature checks; nothing for a card without sensors.

    One unreadable sensor among others is an empty cage, not a fault; all of them unreadable is
    worth showing.
    """
    if not sensors:
        return ()
    readable = [sensor for sensor in sensors if sensor.value is not None]
    if not readable:
        return tuple(
            Observation(check.value, Outcome.UNREADABLE, "no temperature sensor can be read")
            for check in (CheckName.TEMPERATURE_CRITICAL, CheckName.TEMPERATURE_HIGH)
        )
    return (
        _hottest(CheckName.TEMPERATURE_CRITICAL, [(s, s.critical) for s in readable]),
        _hottest(CheckName.TEMPERATURE_HIGH, [(s, s.maximum) for s in readable]),
    )


def _hottest(check: CheckName, limited: Sequence[tuple[Temperature, float | None]]) -> Observation:
    over = [
        ((sensor.value or 0.0) - limit, sensor, limit)
        for sensor, limit in limited
        if limit is not None and sensor.value is not None and sensor.value >= limit
    ]
    if not over:
        return Observation(check.value, Outcome.OK)
    _, sensor, limit = max(over, key=lambda item: item[0])
    observed, expected = f"{sensor.value:.1f} °C", f"below {limit:.1f} °C"
    message = f"{sensor.label} is at {observed}, its limit is {limit:.1f} °C"
    return Observation(check.value, Outcome.FAILED, message, observed, expected)
