"""Temperature and power of an Intel card: which files, and their units.

Sources: Linux Documentation/hwmon/sysfs-interface.rst (m°C, µW); captures published with the OPAE
SDK for the traps: limits of 0, inputs that yield nothing, power in mW where µW belongs.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from posixpath import basename, dirname
from typing import Final

from fpga_plugin.health.temperature import Temperature
from fpga_plugin.host.failures import Unreadable
from fpga_plugin.host.root import HostRoot

LEAST_MICROWATTS: Final = 1_000_000
"""A card draws more than a watt: a smaller number is in mW (N6000 capture: 50909)."""

_HWMON_INPUT: Final = re.compile(r"/hwmon/hwmon\d+/(?P<kind>temp|power)\d+_input$")


@dataclass(frozen=True, slots=True)
class TemperaturePlan:
    """One sensor; ``per_degree`` units are 1 °C, limits are in °C."""

    path: str
    label: str
    per_degree: float
    maximum: float | None = None
    critical: float | None = None


@dataclass(frozen=True, slots=True)
class SensorPlan:
    """The sensors that are read."""

    temperatures: tuple[TemperaturePlan, ...] = ()
    powers: tuple[str, ...] = ()


def plan_sensors(host: HostRoot, files: Sequence[str]) -> SensorPlan:
    """Choose the sensors among a card's files, and read their labels and limits."""
    inputs = [(match["kind"], path) for path in files if (match := _HWMON_INPUT.search(path))]
    temperatures = [_hwmon_temperature(host, path) for kind, path in inputs if kind == "temp"]
    temperatures += [
        TemperaturePlan(path, "FPGA temperature", 1.0)
        for path in files
        if path.endswith("/thermal_mgmt/temperature")
    ]
    return SensorPlan(
        temperatures=tuple(temperatures),
        powers=tuple(path for kind, path in inputs if kind == "power"),
    )


def read_temperatures(host: HostRoot, plan: SensorPlan) -> tuple[Temperature, ...]:
    """Every temperature now."""
    return tuple(
        Temperature(
            sensor.label,
            _degrees(_value(host, sensor.path), sensor.per_degree),
            sensor.maximum,
            sensor.critical,
        )
        for sensor in plan.temperatures
    )


def summarise(
    temperatures: Sequence[Temperature], powers: Sequence[float | None]
) -> dict[str, float]:
    """The two values that lists show: the FPGA's highest temperature and the card's power.

    0 °C is what a sensor without a reading says, so that it counts only if there is no other.
    """
    summary = {}
    readable = [sensor for sensor in temperatures if sensor.value]
    dies = [sensor for sensor in readable if "fpga" in sensor.label.lower()] or readable
    if dies:
        summary["temperature_celsius"] = max(sensor.value or 0.0 for sensor in dies)
    watts = [value for value in powers if value is not None]
    if watts:
        summary["power_watts"] = max(watts)
    return summary


def read_powers(host: HostRoot, plan: SensorPlan) -> tuple[float | None, ...]:
    """Every power in watts."""
    return tuple(_watts(_value(host, path)) for path in plan.powers)


def _hwmon_temperature(host: HostRoot, path: str) -> TemperaturePlan:
    channel = path.removesuffix("_input")
    limits = {
        name: _degrees(_value(host, f"{channel}_{name}"), 1000.0) or None
        for name in ("max", "crit", "emergency")
    }
    return TemperaturePlan(
        path,
        _label(host, channel),
        1000.0,
        limits["max"],
        limits["crit"] or limits["emergency"],
    )


def _label(host: HostRoot, channel: str) -> str:
    for path in (f"{channel}_label", f"{dirname(channel)}/name"):
        try:
            label = host.text(path)
        except Unreadable:
            continue
        if label:
            return "FPGA temperature" if label == "dfl_fme_thermal" else label
    return basename(channel)


def _value(host: HostRoot, path: str) -> float | None:
    try:
        value = float(host.text(path))
    except (Unreadable, ValueError):
        return None
    return value if math.isfinite(value) else None


def _degrees(value: float | None, per_degree: float) -> float | None:
    return None if value is None else value / per_degree


def _watts(value: float | None) -> float | None:
    if value is None:
        return None
    return value / (1_000_000 if value >= LEAST_MICROWATTS else 1000)
