"""The health state table, as data."""

from collections.abc import Sequence

import pytest

from fpga_common.domain.health import HealthStatus, Severity
from fpga_plugin.health.checks import CHECKS, CheckName
from fpga_plugin.health.observation import Observation, Outcome
from fpga_plugin.health.verdict import Memory, judge

OK, FAILED, UNREADABLE = Outcome.OK, Outcome.FAILED, Outcome.UNREADABLE
HEALTHY, WARNING, UNHEALTHY = (
    HealthStatus.HEALTHY,
    HealthStatus.WARNING,
    HealthStatus.UNHEALTHY,
)

ESSENTIAL, FATAL, SHOWN = CheckName.DRIVER, CheckName.TEMPERATURE_CRITICAL, CheckName.PCI_LINK


def after(check: CheckName, outcomes: Sequence[Outcome]) -> list[HealthStatus]:
    """The status after each of several readings, the first of which was good."""
    memory = judge(Memory(), [Observation(check.value, OK)], (), 0.0)
    statuses = []
    for poll, outcome in enumerate(outcomes, start=1):
        memory = judge(memory, [Observation(check.value, outcome, "why")], (), float(poll))
        statuses.append(memory.verdict(None).status)
    return statuses


@pytest.mark.parametrize(
    ("check", "outcomes", "statuses"),
    [
        (ESSENTIAL, [FAILED], [UNHEALTHY]),
        (ESSENTIAL, [UNREADABLE], [UNHEALTHY]),
        (ESSENTIAL, [FAILED, OK, OK, OK], [UNHEALTHY, UNHEALTHY, UNHEALTHY, HEALTHY]),
        (FATAL, [FAILED, FAILED], [HEALTHY, UNHEALTHY]),
        (FATAL, [FAILED, OK, FAILED], [HEALTHY, HEALTHY, HEALTHY]),
        (FATAL, [UNREADABLE, UNREADABLE], [WARNING, WARNING]),
        (FATAL, [UNREADABLE, OK], [WARNING, HEALTHY]),
        (FATAL, [FAILED, UNREADABLE, FAILED], [HEALTHY, WARNING, HEALTHY]),
        (FATAL, [FAILED, FAILED, UNREADABLE], [HEALTHY, UNHEALTHY, UNHEALTHY]),
        (
            FATAL,
            [FAILED, FAILED, OK, OK, FAILED, OK, OK, OK],
            [HEALTHY, *([UNHEALTHY] * 6), HEALTHY],
        ),
        (SHOWN, [FAILED, OK], [WARNING, HEALTHY]),
        (SHOWN, [UNREADABLE, OK], [WARNING, HEALTHY]),
    ],
)
def test_a_check_leads_to_a_status_as_the_state_table_says(
    check: CheckName, outcomes: list[Outcome], statuses: list[HealthStatus]
) -> None:
    assert after(check, outcomes) == statuses


@pytest.mark.parametrize("check", [ESSENTIAL, FATAL])
def test_the_first_reading_is_believed_at_once(check: CheckName) -> None:
    memory = judge(Memory(), [Observation(check.value, FAILED)], (), 1.0)
    assert memory.verdict(None).status is UNHEALTHY


def test_a_suspected_fault_asks_for_another_look() -> None:
    good, bad = Observation(FATAL.value, OK), Observation(FATAL.value, FAILED)
    memory = judge(Memory(), [good], (), 0.0)
    assert not memory.suspicious
    memory = judge(memory, [bad], (), 1.0)
    assert memory.suspicious
    assert not judge(memory, [bad], (), 2.0).suspicious
    assert not judge(memory, [Observation(FATAL.value, UNREADABLE)], (), 2.0).suspicious


def test_a_failing_check_that_is_no_longer_made_counts_as_good() -> None:
    memory = judge(Memory(), [Observation(ESSENTIAL.value, FAILED)], (), 0.0)
    for poll, status in enumerate((UNHEALTHY, UNHEALTHY, HEALTHY), start=1):
        memory = judge(memory, [], (), float(poll))
        assert memory.verdict(None).status is status
    assert memory.checks == {}


def test_a_region_answers_for_its_card_and_itself_and_not_for_its_neighbour() -> None:
    card_wide = Observation(SHOWN.value, FAILED, "slow link")
    own = Observation(CheckName.DEVICE_NODE.value, FAILED, "no node", region="r1")
    memory = judge(Memory(), [card_wide, own], ("r0", "r1"), 0.0)
    assert memory.verdict("r0").status is WARNING
    assert memory.verdict("r1").status is UNHEALTHY
    assert memory.verdict(None).status is UNHEALTHY
    assert [reason.check for reason in memory.verdict("r0").reasons] == ["pci_link"]


def test_since_is_when_the_status_and_when_each_reason_began() -> None:
    bad = Observation(ESSENTIAL.value, FAILED, "no driver")
    slow = Observation(SHOWN.value, FAILED, "slow")
    memory = judge(Memory(), [slow], (), 10.0)
    memory = judge(memory, [slow, bad], (), 20.0)
    memory = judge(memory, [slow, bad], (), 30.0)
    verdict = memory.verdict(None)
    assert verdict.since == 20.0
    assert {reason.check: reason.since for reason in verdict.reasons} == {
        "pci_link": 10.0,
        "driver": 20.0,
    }


def test_an_unknown_keeps_the_time_since_when_it_is_unknown() -> None:
    unknown = Observation(FATAL.value, UNREADABLE, "EIO")
    memory = judge(Memory(), [unknown], (), 10.0)
    memory = judge(memory, [unknown], (), 20.0)
    (reason,) = memory.verdict(None).reasons
    assert (reason.since, reason.observed, reason.severity) == (10.0, "unknown", Severity.WARNING)


def test_a_region_not_judged_yet_is_unknown_and_not_allocatable() -> None:
    verdict = Memory().verdict("r0")
    assert verdict.status is HealthStatus.UNKNOWN
    assert not verdict.allocatable


def test_every_check_has_a_row_that_says_what_it_reads_and_where_that_is_from() -> None:
    assert set(CHECKS) == {name.value for name in CheckName}
    assert all(spec.reads and spec.source for spec in CHECKS.values())
    assert all(spec.severity is Severity.FATAL for spec in CHECKS.values() if spec.essential)
