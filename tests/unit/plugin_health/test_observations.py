"""Observations from values: link, temperatures, error registers."""

import errno

import pytest

from fpga_common.domain.card import PciLink
from fpga_plugin.health.checks import CheckName
from fpga_plugin.health.link import observe_link
from fpga_plugin.health.observation import Outcome
from fpga_plugin.health.registers import Register, observe_registers
from fpga_plugin.health.temperature import Temperature, observe_temperatures
from fpga_plugin.host.failures import Broken


@pytest.mark.parametrize(
    ("link", "outcome"),
    [
        (PciLink(8.0, 8.0, 16, 16), Outcome.OK),
        (PciLink(8.0, 16.0, 8, 16), Outcome.FAILED),
        (PciLink(8.0, 8.0, 8, 16), Outcome.FAILED),
        (PciLink(8.0, 8.0, 0, 16), Outcome.FAILED),
        (PciLink(8.0, 8.0, 255, 16), Outcome.FAILED),
        (PciLink(None, 8.0, 16, 16), Outcome.UNREADABLE),
        (PciLink(8.0, 8.0, None, 16), Outcome.UNREADABLE),
        (PciLink(8.0, None, 16, 16), Outcome.OK),
    ],
)
def test_a_link_is_compared_with_what_the_card_could_do(link: PciLink, outcome: Outcome) -> None:
    (observation,) = observe_link(link)
    assert observation.outcome is outcome


def test_a_machine_that_says_nothing_of_the_link_makes_no_observation() -> None:
    assert observe_link(PciLink()) == ()


def test_a_slow_link_is_described_with_both_ends() -> None:
    (observation,) = observe_link(PciLink(8.0, 16.0, 8, 16))
    assert (observation.observed, observation.expected) == ("8 GT/s ×8", "16 GT/s ×16")


def outcomes(*sensors: Temperature) -> dict[str, Outcome]:
    return {item.check: item.outcome for item in observe_temperatures(sensors)}


@pytest.mark.parametrize(
    ("value", "critical", "high"),
    [
        (89.9, Outcome.OK, Outcome.OK),
        (90.0, Outcome.OK, Outcome.FAILED),
        (100.0, Outcome.FAILED, Outcome.FAILED),
    ],
)
def test_a_temperature_is_judged_by_the_sensors_own_limits(
    value: float, critical: Outcome, high: Outcome
) -> None:
    found = outcomes(Temperature("die", value, maximum=90.0, critical=100.0))
    assert found == {"temperature_critical": critical, "temperature_high": high}


def test_a_sensor_without_limits_is_never_too_hot() -> None:
    assert set(outcomes(Temperature("rail", 61.0)).values()) == {Outcome.OK}


def test_one_unreadable_sensor_among_others_is_an_empty_cage() -> None:
    found = outcomes(Temperature("QSFP", None, 85.0, 90.0), Temperature("die", 50.0, 90.0, 100.0))
    assert set(found.values()) == {Outcome.OK}


def test_no_readable_sensor_at_all_is_unknown() -> None:
    assert set(outcomes(Temperature("die", None, 90.0)).values()) == {Outcome.UNREADABLE}


def test_a_card_without_sensors_has_no_temperature_checks() -> None:
    assert outcomes() == {}


def test_the_sensor_furthest_above_its_limit_is_named() -> None:
    sensors = (
        Temperature("board", 81.0, critical=80.0),
        Temperature("die", 108.0, critical=100.0),
    )
    critical = observe_temperatures(sensors)[0]
    assert critical.message == "die is at 108.0 °C, its limit is 100.0 °C"


def test_a_register_with_a_bit_set_is_an_error_even_beside_an_unreadable_one() -> None:
    registers: dict[str, Register] = {"a": Broken("/sys/a", errno.EIO), "b": 4, "c": 0}
    (observation,) = observe_registers(CheckName.FME_ERRORS, registers)
    assert (observation.outcome, observation.observed) == (Outcome.FAILED, "b=0x4")


def test_an_unreadable_register_is_unknown_and_says_why() -> None:
    registers: dict[str, Register] = {"a": Broken("/sys/a", errno.EIO), "c": 0}
    (observation,) = observe_registers(CheckName.FME_ERRORS, registers)
    assert observation.outcome is Outcome.UNREADABLE
    assert "EIO" in observation.message


def test_a_card_without_registers_has_no_such_check() -> None:
    assert observe_registers(CheckName.FME_ERRORS, {}) == ()
