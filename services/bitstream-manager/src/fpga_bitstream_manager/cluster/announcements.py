"""What is worth an Event on a Node: changes of devices and cards, and failed loads. Pure.

Called by the reconciler, which remembers what was told. ``EVENTS`` is the whole table: a change
that it does not have is noted and not announced.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import Final

from fpga_bitstream_manager.cluster.devices import ReportedDevice
from fpga_common.domain.health import HealthStatus

LOAD_FAILED: Final = "FpgaLoadFailed"


class Condition(StrEnum):
    """What is told of a device (healthy or not) and of a card (there or not)."""

    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"
    PRESENT = "present"
    MISSING = "missing"


class SubjectKind(StrEnum):
    """A card without regions is a device of the same id, hence the kind."""

    DEVICE = "device"
    CARD = "card"


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """A device or card of one node."""

    kind: SubjectKind
    name: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The condition that a subject is in now."""

    subject: Subject
    condition: Condition
    model: str
    cause: str


@dataclass(frozen=True, slots=True)
class Announcement:
    """An Event's words; ``reason`` is CamelCase."""

    reason: str
    message: str
    warning: bool


@dataclass(frozen=True, slots=True)
class Change:
    """A subject whose condition is not the one that was told; most first ones are not announced."""

    subject: Subject
    condition: Condition
    announcement: Announcement | None


@dataclass(frozen=True, slots=True)
class FailedLoad:
    """A load that ended failed."""

    id: str
    device: str
    bitstream: str
    message: str
    expected: str | None = None
    actual: str | None = None


@dataclass(frozen=True, slots=True)
class _Event:
    reason: str
    words: str
    warning: bool


_UNHEALTHY: Final = _Event("FpgaUnhealthy", "is unhealthy", warning=True)

EVENTS: Final[Mapping[tuple[Condition | None, Condition], _Event]] = {
    (None, Condition.UNHEALTHY): _UNHEALTHY,
    (Condition.HEALTHY, Condition.UNHEALTHY): _UNHEALTHY,
    (Condition.UNHEALTHY, Condition.HEALTHY): _Event(
        "FpgaHealthy", "is healthy again", warning=False
    ),
    (Condition.PRESENT, Condition.MISSING): _Event("FpgaCardVanished", "vanished", warning=True),
    (Condition.MISSING, Condition.PRESENT): _Event("FpgaCardReturned", "is back", warning=False),
}

_HEALTH: Final = {
    HealthStatus.HEALTHY: Condition.HEALTHY,
    HealthStatus.WARNING: Condition.HEALTHY,
    HealthStatus.UNHEALTHY: Condition.UNHEALTHY,
}


def findings(devices: Iterable[ReportedDevice]) -> list[Finding]:
    """Conditions of one node's devices and cards.

    A device that is missing or whose health is unknown has none: what was told of it stays.
    """
    ordered = sorted(devices, key=attrgetter("card", "id"))
    found = [_of_card(card, list(own)) for card, own in groupby(ordered, attrgetter("card"))]
    for device in ordered:
        condition = None if device.missing else _HEALTH.get(device.health)
        if condition is not None:
            subject = Subject(SubjectKind.DEVICE, device.id)
            found.append(Finding(subject, condition, device.model, device.cause))
    return found


def changes(told: Mapping[Subject, Condition], found: Iterable[Finding]) -> list[Change]:
    """What differs from what was told, with the Event where it is worth one."""
    return [
        Change(one.subject, one.condition, _announcement(told.get(one.subject), one))
        for one in found
        if told.get(one.subject) is not one.condition
    ]


def of_failed_load(load: FailedLoad) -> Announcement:
    """The Event of a load that ended failed."""
    words = f"load {load.id} of {load.bitstream} into device {load.device} failed: {load.message}"
    if load.expected or load.actual:
        words += f" (expected {load.expected or 'unknown'}, actual {load.actual or 'unknown'})"
    return Announcement(LOAD_FAILED, words, warning=True)


def _of_card(card: str, devices: Sequence[ReportedDevice]) -> Finding:
    there = [device for device in devices if not device.missing]
    subject = Subject(SubjectKind.CARD, card)
    if there:
        return Finding(subject, Condition.PRESENT, there[0].model, "")
    return Finding(subject, Condition.MISSING, devices[0].model, devices[0].cause)


def _announcement(before: Condition | None, found: Finding) -> Announcement | None:
    event = EVENTS.get((before, found.condition))
    if event is None:
        return None
    words = f"{found.subject.kind} {found.subject.name} ({found.model}) {event.words}"
    if event.warning and found.cause:
        words += f": {found.cause}"
    return Announcement(event.reason, words, event.warning)
