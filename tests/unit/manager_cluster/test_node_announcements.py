"""What is worth an Event, as data: what was told and what is now in, Events out."""

import re

import pytest

from fpga_bitstream_manager.cluster.announcements import (
    EVENTS,
    Announcement,
    Change,
    Condition,
    FailedLoad,
    Subject,
    SubjectKind,
    changes,
    findings,
    of_failed_load,
)
from fpga_bitstream_manager.cluster.devices import ReportedDevice
from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus

CARD = "0000:3b:00.0"
DEVICE = f"{CARD}-r0"
HOT = "96 °C, at most 95 °C"

Told = dict[Subject, Condition]


def device(
    health: HealthStatus = HealthStatus.HEALTHY,
    *,
    state: RegionState = RegionState.READY,
    cause: str = "",
    name: str = DEVICE,
) -> ReportedDevice:
    return ReportedDevice(name, CARD, "PAC N3000", None, state, health, cause)


def told(health: Condition | None, presence: Condition | None = Condition.PRESENT) -> Told:
    known = {
        Subject(SubjectKind.DEVICE, DEVICE): health,
        Subject(SubjectKind.CARD, CARD): presence,
    }
    return {subject: condition for subject, condition in known.items() if condition}


def events(before: Told, *devices: ReportedDevice) -> list[Announcement]:
    found = changes(before, findings(devices))
    return [change.announcement for change in found if change.announcement]


HOT_DEVICE = device(HealthStatus.UNHEALTHY, cause=HOT)
GONE = device(HealthStatus.UNKNOWN, state=RegionState.MISSING, cause="the card is gone")


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (
            told(Condition.HEALTHY),
            HOT_DEVICE,
            ("FpgaUnhealthy", f"device {DEVICE} (PAC N3000) is unhealthy: {HOT}", True),
        ),
        (
            {},
            HOT_DEVICE,
            ("FpgaUnhealthy", f"device {DEVICE} (PAC N3000) is unhealthy: {HOT}", True),
        ),
        (
            told(Condition.UNHEALTHY),
            device(HealthStatus.WARNING, cause="not said"),
            ("FpgaHealthy", f"device {DEVICE} (PAC N3000) is healthy again", False),
        ),
        (
            told(Condition.HEALTHY),
            GONE,
            ("FpgaCardVanished", f"card {CARD} (PAC N3000) vanished: the card is gone", True),
        ),
        (
            told(Condition.HEALTHY, Condition.MISSING),
            device(),
            ("FpgaCardReturned", f"card {CARD} (PAC N3000) is back", False),
        ),
    ],
)
def test_a_change_is_one_event_that_names_subject_and_cause(
    before: Told, now: ReportedDevice, expected: tuple[str, str, bool]
) -> None:
    assert events(before, now) == [Announcement(*expected)]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({}, device()),
        ({}, GONE),
        (told(Condition.HEALTHY), device()),
        (told(Condition.HEALTHY), device(HealthStatus.WARNING)),
        (told(Condition.UNHEALTHY), HOT_DEVICE),
        (told(Condition.UNHEALTHY), device(HealthStatus.UNKNOWN)),
        (told(Condition.HEALTHY), device(HealthStatus.UNKNOWN)),
        (told(Condition.UNHEALTHY, Condition.MISSING), GONE),
    ],
)
def test_what_is_told_or_unknown_or_well_from_the_start_is_no_event(
    before: Told, now: ReportedDevice
) -> None:
    assert events(before, now) == []


def test_a_card_vanishes_once_with_all_its_regions_and_not_with_one_of_them() -> None:
    second = device(name=f"{CARD}-r1", state=RegionState.MISSING, health=HealthStatus.UNKNOWN)
    assert events(told(Condition.HEALTHY), device(), second) == []
    assert [event.reason for event in events(told(Condition.HEALTHY), GONE, second)] == [
        "FpgaCardVanished"
    ]


def test_first_conditions_are_noted_without_an_event() -> None:
    assert changes({}, findings([device()])) == [
        Change(Subject(SubjectKind.CARD, CARD), Condition.PRESENT, None),
        Change(Subject(SubjectKind.DEVICE, DEVICE), Condition.HEALTHY, None),
    ]


def test_a_failed_load_names_bitstream_device_and_cause() -> None:
    load = FailedLoad("42", DEVICE, "nlb0@1", "read back another AFU", "a" * 32)
    assert of_failed_load(load) == Announcement(
        "FpgaLoadFailed",
        f"load 42 of nlb0@1 into device {DEVICE} failed: read back another AFU"
        f" (expected {'a' * 32}, actual unknown)",
        warning=True,
    )


def test_reasons_are_camel_case() -> None:
    assert all(re.fullmatch(r"Fpga([A-Z][a-z]+)+", event.reason) for event in EVENTS.values())
