"""How the device manager chooses devices for a container, pure but for the plugin's hint."""

from collections.abc import Callable
from dataclasses import dataclass, field

from fpga_common.testing.kubelet.devices import DeviceSets
from fpga_common.testing.kubelet.failures import AllocationRefused

Preference = Callable[[list[str], list[str], int], set[str]]
"""Asks the plugin: available, must include, size."""


@dataclass(frozen=True, slots=True)
class Demand:
    """``count`` devices of a resource for a container.

    ``held`` are the container's already, ``reusable`` an init container's of the same pod.
    """

    resource: str
    count: int
    held: frozenset[str] = frozenset()
    reusable: frozenset[str] = field(default=frozenset())


def choose(
    demand: Demand, sets: DeviceSets | None, in_use: set[str], preference: Preference
) -> list[str]:
    """The devices to allocate; empty when the container has all it wants.

    Raises:
        AllocationRefused: with the kubelet's kind of message.
    """
    if sets is None:
        raise AllocationRefused(f"cannot allocate unregistered device {demand.resource}")
    _require_health(demand, sets)
    if demand.held:
        _require_same_count(demand)
        return []
    reused = sorted(demand.reusable)[: demand.count]
    needed = demand.count - len(reused)
    if needed == 0:
        return reused
    available = sorted(set(sets.healthy) - in_use - set(reused))
    if len(available) < needed:
        raise AllocationRefused(
            f"requested number of devices unavailable for {demand.resource}. "
            f"Requested: {needed}, Available: {len(available)}"
        )
    return reused + _pick(available, reused, needed, preference)


def _pick(
    available: list[str], reused: list[str], needed: int, preference: Preference
) -> list[str]:
    if len(available) == needed:
        return available
    hint = preference(sorted([*available, *reused]), reused, needed + len(reused))
    preferred = [device for device in available if device in hint][:needed]
    rest = [device for device in available if device not in preferred]
    return preferred + rest[: needed - len(preferred)]


def _require_health(demand: Demand, sets: DeviceSets) -> None:
    if not sets.healthy:
        raise AllocationRefused(
            "no healthy devices present; cannot allocate unhealthy devices " + demand.resource
        )
    if not demand.held <= set(sets.healthy):
        raise AllocationRefused(
            "previously allocated devices are no longer healthy; "
            f"cannot allocate unhealthy devices {demand.resource}"
        )


def _require_same_count(demand: Demand) -> None:
    if len(demand.held) != demand.count:
        raise AllocationRefused(
            f"the request for resource {demand.resource!r} changed "
            f"from {len(demand.held)} to {demand.count}"
        )
