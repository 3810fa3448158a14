"""Which programmer a card gets, and what the simulated one does."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fpga_common.bitstream import inspect_file
from fpga_common.domain.card import Card
from fpga_common.domain.operation import FailureCode
from fpga_common.testing.sim import SimulatedCard, SimulatedHost, make_gbs
from fpga_plugin.failures import OperationFailed
from fpga_plugin.inventory.once import read_once
from fpga_plugin.programmers.protocol import Image
from fpga_plugin.programmers.registry import Programmers
from support.agent_doubles import NEW_AFU, card


@pytest.fixture
def simulated(tmp_path: Path) -> SimulatedCard:
    return SimulatedHost(tmp_path).add_card("n3000")


@pytest.fixture
def found(tmp_path: Path, simulated: SimulatedCard) -> Card:
    (only,) = read_once(tmp_path)
    return only


@pytest.fixture
def image(tmp_path: Path, simulated: SimulatedCard) -> Iterator[Image]:
    path = tmp_path / "nlb0.gbs"
    path.write_bytes(make_gbs(simulated.interface_id, NEW_AFU))
    with path.open("rb") as stream:
        yield Image(stream, inspect_file(path))


def test_a_card_of_a_real_host_without_programmer_is_unsupported(tmp_path: Path) -> None:
    with pytest.raises(OperationFailed) as refused:
        Programmers(tmp_path).for_card(card())
    assert refused.value.failure.code is FailureCode.UNSUPPORTED
    assert not refused.value.failure.retryable


def test_the_fraction_rises_and_the_card_shows_the_afu(
    tmp_path: Path, simulated: SimulatedCard, found: Card, image: Image
) -> None:
    simulated.set_programming_seconds(0.2)
    fractions: list[float] = []
    with Programmers(tmp_path).for_card(found).open_exclusively(found, found.regions[0]) as region:
        region.write(image, fractions.append, deadline=time.monotonic() + 60.0)
    assert fractions == sorted(fractions)
    assert all(0.0 <= fraction <= 1.0 for fraction in fractions)
    assert simulated.afu_id == NEW_AFU


def test_a_write_longer_than_its_deadline_is_a_timeout(
    tmp_path: Path, simulated: SimulatedCard, found: Card, image: Image
) -> None:
    simulated.set_programming_seconds(60.0)
    programmer = Programmers(tmp_path).for_card(found)
    with (
        programmer.open_exclusively(found, found.regions[0]) as region,
        pytest.raises(OperationFailed) as failed,
    ):
        region.write(image, lambda _: None, deadline=time.monotonic())
    assert failed.value.failure.code is FailureCode.PROGRAMMING_TIMEOUT


def test_a_region_is_opened_by_one_at_a_time(tmp_path: Path, found: Card) -> None:
    programmer = Programmers(tmp_path).for_card(found)
    with programmer.open_exclusively(found, found.regions[0]):
        with pytest.raises(OperationFailed) as refused:
            programmer.open_exclusively(found, found.regions[0])
        assert refused.value.failure.code is FailureCode.OPEN_ELSEWHERE
    with programmer.open_exclusively(found, found.regions[0]):
        pass


def test_a_card_that_is_gone_is_missing(
    tmp_path: Path, simulated: SimulatedCard, found: Card
) -> None:
    simulated.unplug()
    with pytest.raises(OperationFailed) as refused:
        Programmers(tmp_path).for_card(found).open_exclusively(found, found.regions[0])
    assert refused.value.failure.code is FailureCode.CARD_MISSING
