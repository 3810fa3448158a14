"""What goes to the manager when, decided on values."""

from dataclasses import replace

import pytest

from fpga_common.contract.report import NodeHeartbeat, NodeReport
from fpga_common.domain.card import Card
from fpga_common.domain.health import HealthStatus, Reason, Severity, Verdict
from fpga_plugin.report.document import (
    NodeState,
    Report,
    full_message,
    heartbeat_message,
    make_report,
)
from fpga_plugin.report.schedule import (
    LONGEST_PAUSE_SECONDS,
    Sending,
    Told,
    after_sending,
    next_sending,
    pause_after,
)
from support.agent_doubles import CARD, card


def _report(reported: Card) -> Report:
    return make_report(NodeState("sim-a", (reported,), facts={"kernel": "6.1"}))


def _warm(celsius: float) -> Card:
    return replace(card(), sensors={"temperature_celsius": celsius})


def _overheated(observed: str) -> Card:
    reason = Reason("temperature_critical", Severity.FATAL, "too hot", 1.0, observed, "90 °C")
    return replace(card(), health=Verdict(HealthStatus.UNHEALTHY, 1.0, (reason,)))


def test_the_first_thing_told_is_everything() -> None:
    assert next_sending(Told(), _report(card()), 0.0) is Sending.FULL


def test_nothing_is_told_while_nothing_changes_until_half_a_minute_is_over() -> None:
    report = _report(card())
    told = after_sending(report, 100.0, full_wanted=False)
    assert next_sending(told, report, 129.9) is Sending.NOTHING
    assert next_sending(told, report, 130.0) is Sending.HEARTBEAT


def test_sensor_values_travel_with_the_heartbeat() -> None:
    told = after_sending(_report(_warm(40.0)), 100.0, full_wanted=False)
    warmer = _report(_warm(41.0))
    assert next_sending(told, warmer, 101.0) is Sending.NOTHING
    assert next_sending(told, warmer, 130.0) is Sending.HEARTBEAT
    assert heartbeat_message(warmer, 0.0)["sensors"] == {CARD: {"temperature_celsius": 41.0}}


def test_a_fault_is_told_at_once_and_its_moving_value_with_the_next_report() -> None:
    told = after_sending(_report(card()), 100.0, full_wanted=False)
    fault = _report(_overheated("95 °C"))
    assert next_sending(told, fault, 100.1) is Sending.FULL
    told = after_sending(fault, 100.1, full_wanted=False)
    assert next_sending(told, _report(_overheated("96 °C")), 101.0) is Sending.NOTHING
    assert next_sending(told, _report(_overheated("96 °C")), 131.0) is Sending.FULL


def test_a_manager_that_does_not_know_the_digest_gets_everything() -> None:
    report = _report(card())
    told = after_sending(report, 100.0, full_wanted=True)
    assert next_sending(told, report, 100.1) is Sending.FULL


def test_both_messages_fit_the_contract() -> None:
    report = _report(_warm(40.0))
    full = NodeReport.model_validate(full_message(report, 1.0))
    heartbeat = NodeHeartbeat.model_validate(heartbeat_message(report, 1.0))
    assert full.digest == heartbeat.digest == report.digest
    assert full.inventory.cards[0].sensors == heartbeat.sensors[CARD]


@pytest.mark.parametrize("failures", [1, 2, 5, 1000])
def test_the_pause_grows_to_a_limit_and_never_vanishes(failures: int) -> None:
    assert 0.25 <= pause_after(failures, 0.0) <= pause_after(failures, 1.0) <= LONGEST_PAUSE_SECONDS
    assert pause_after(failures + 1, 0.5) >= pause_after(failures, 0.5)
