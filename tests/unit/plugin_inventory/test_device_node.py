"""The device node check on the machine's own root, where type and number count."""

from pathlib import Path

import pytest

from fpga_plugin.backends.device_node import observe_device_node
from fpga_plugin.health.observation import Outcome
from fpga_plugin.host.root import HostRoot

REAL = HostRoot(Path("/"))


def outcome(node: str, number_file: str) -> Outcome:
    (observation,) = observe_device_node(REAL, node, number_file, region="r0")
    return observation.outcome


@pytest.fixture
def number_file(tmp_path: Path) -> Path:
    file = tmp_path / "dev"
    file.write_text("1:3\n")
    return file


def test_a_node_with_the_drivers_number_is_right(number_file: Path) -> None:
    assert outcome("/dev/null", str(number_file)) is Outcome.OK


def test_a_node_with_another_number_is_wrong(number_file: Path) -> None:
    assert outcome("/dev/zero", str(number_file)) is Outcome.FAILED


def test_a_plain_file_is_no_device_node(number_file: Path) -> None:
    assert outcome(str(number_file), str(number_file)) is Outcome.FAILED


def test_a_node_that_is_not_there_is_a_failure(number_file: Path) -> None:
    assert outcome("/dev/no-such-node", str(number_file)) is Outcome.FAILED
