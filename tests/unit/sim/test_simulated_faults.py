"""Breaking and healing simulated cards, as a concurrent reader sees it."""

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fpga_common.domain.simulation import read_behaviour
from fpga_common.testing.sim import (
    PROFILES,
    CardAbsent,
    NoSuchAttribute,
    SimulatedCard,
    SimulatedHost,
)
from fpga_common.testing.waiting import wait_for

OTHER_AFU = "00112233445566778899aabbccddeeff"


@pytest.fixture
def host(tmp_path: Path) -> SimulatedHost:
    return SimulatedHost(tmp_path / "host")


@pytest.fixture(params=PROFILES)
def card(host: SimulatedHost, request: pytest.FixtureRequest) -> SimulatedCard:
    return host.add_card(request.param)


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file, link and device node that the host shows."""
    shown: dict[str, bytes] = {}
    for top in ("sys", "dev"):
        for folder, folders, files in os.walk(root / top):
            for path in (Path(folder, name) for name in (*folders, *files)):
                if path.is_symlink():
                    shown[str(path)] = str(path.readlink()).encode()
                elif path.is_file():
                    shown[str(path)] = path.read_bytes()
    return shown


def test_heal_undoes_every_fault_at_once(host: SimulatedHost, card: SimulatedCard) -> None:
    before = snapshot(host.root)
    card.overheat()
    card.lose_link_width()
    card.hang_read()
    card.break_attribute()
    card.remove_device_node()
    card.fail_programming()
    card.unplug()
    assert snapshot(host.root) != before
    card.heal()
    assert snapshot(host.root) == before
    assert read_behaviour(host.root, card.id).fail_programming is None


def test_an_unplugged_card_shows_nothing_and_comes_back_as_it_was(
    host: SimulatedHost, card: SimulatedCard
) -> None:
    before = snapshot(host.root)
    card.unplug()
    card.unplug()
    assert not card.plugged
    assert [path for path in snapshot(host.root) if card.id[:10] in path] == []
    assert card.interface_id
    card.replug()
    card.replug()
    assert host.card(card.id).plugged
    assert snapshot(host.root) == before


def test_a_reader_sees_the_whole_card_or_none_of_it(host: SimulatedHost) -> None:
    card = host.add_card("n6000")
    bridge = (host.root / "sys/bus/pci/devices" / card.id).resolve().parent
    counts: set[int] = set()
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            try:
                counts.add(len(list(bridge.iterdir())))
            except FileNotFoundError:
                counts.add(0)

    reader = threading.Thread(target=read, name="reader", daemon=True)
    reader.start()
    for _ in range(20):
        card.unplug()
        card.replug()
    ended.set()
    reader.join(5)
    assert counts <= {0, 5}


def test_an_overheated_card_is_above_its_own_limit(
    host: SimulatedHost, card: SimulatedCard
) -> None:
    card.overheat()
    readings = [
        (int(path.read_text()), int(limit.read_text()))
        for path in (host.root / "sys/class/hwmon").glob("*/temp*_input")
        if path.read_text() and (limit := path.with_name(f"{path.name[:-6]}_crit")).exists()
    ]
    assert [reading for reading, limit in readings if limit and reading > limit]


def test_a_card_can_lose_half_its_lanes(host: SimulatedHost) -> None:
    card = host.add_card("n3000")
    card.lose_link_width()
    assert card.path_of("current_link_width").read_text() == "8\n"
    assert card.path_of("max_link_width").read_text() == "16\n"


def test_a_broken_attribute_is_there_and_unreadable_for_root_too(card: SimulatedCard) -> None:
    card.break_attribute("numa_node")
    path = card.path_of("numa_node")
    assert path.exists()
    with pytest.raises(IsADirectoryError):
        path.read_text()


def test_breaking_an_attribute_that_is_not_there_is_refused(card: SimulatedCard) -> None:
    with pytest.raises(NoSuchAttribute, match="no readable attribute nonsense"):
        card.break_attribute("nonsense")


def test_breaking_twice_heals_to_the_first_value(card: SimulatedCard) -> None:
    before = card.path_of("numa_node").read_bytes()
    card.break_attribute("numa_node")
    card.hang_read("numa_node")
    card.break_attribute("numa_node")
    card.heal()
    assert card.path_of("numa_node").read_bytes() == before


@pytest.fixture
def blocked_reader(card: SimulatedCard) -> Iterator[subprocess.Popen[bytes]]:
    """A process that reads an attribute which hangs."""
    card.hang_read()
    reader = subprocess.Popen(["cat", card.path_of("compat_id")], stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: sleeps(reader.pid), what="a reader that sleeps in open()")
        yield reader
    finally:
        reader.kill()
        reader.wait(10)


def sleeps(pid: int) -> bool:
    return "(cat) S" in Path(f"/proc/{pid}/stat").read_text()


def test_healing_a_hanging_read_releases_the_reader(
    card: SimulatedCard, blocked_reader: subprocess.Popen[bytes]
) -> None:
    assert blocked_reader.poll() is None
    card.heal()
    assert blocked_reader.wait(10) == 0
    assert card.path_of("compat_id").is_file()


def test_another_fault_releases_the_reader_too(
    card: SimulatedCard, blocked_reader: subprocess.Popen[bytes]
) -> None:
    card.break_attribute("compat_id")
    assert blocked_reader.wait(10) == 0


def test_a_programming_survives_healing(host: SimulatedHost) -> None:
    card = host.add_card("d5005")
    card.break_attribute("afu_id")
    written = host.root / "written"
    written.write_text(f"{OTHER_AFU}\n")
    written.replace(card.path_of("afu_id"))
    card.heal()
    assert card.afu_id == OTHER_AFU


def test_nothing_can_happen_to_a_card_that_is_unplugged(card: SimulatedCard) -> None:
    card.unplug()
    for happens in (card.overheat, card.lose_link_width, card.hang_read, card.break_attribute):
        with pytest.raises(CardAbsent):
            happens()


def test_losing_lanes_twice_is_losing_them_once(host: SimulatedHost) -> None:
    card = host.add_card("n3000")
    card.lose_link_width()
    card.lose_link_width()
    assert card.path_of("current_link_width").read_text() == "8\n"


def test_the_interface_id_is_known_while_its_read_hangs(card: SimulatedCard) -> None:
    interface_id = card.interface_id
    card.hang_read()
    assert card.interface_id == interface_id
    card.unplug()
    assert card.interface_id == interface_id


def test_a_removed_device_node_comes_back(host: SimulatedHost, card: SimulatedCard) -> None:
    node = host.root / card.device_node.lstrip("/")
    card.remove_device_node()
    assert not node.exists()
    card.heal()
    assert node.exists()


def test_another_process_can_heal_what_this_one_broke(
    host: SimulatedHost, card: SimulatedCard
) -> None:
    card.hang_read()
    SimulatedHost(host.root).card(card.id).heal()
    assert card.path_of("compat_id").is_file()


def test_an_afu_can_change_behind_everybodys_back(host: SimulatedHost) -> None:
    card = host.add_card("d5005")
    card.break_attribute("afu_id")
    card.set_afu_id(OTHER_AFU)
    assert card.afu_id == OTHER_AFU
    assert card.path_of("afu_id").read_text() == f"{OTHER_AFU}\n"
    card.heal()
    assert card.afu_id == OTHER_AFU


def test_a_card_that_shows_no_afu_cannot_change_it(host: SimulatedHost) -> None:
    with pytest.raises(NoSuchAttribute):
        host.add_card("n6000").set_afu_id(OTHER_AFU)


def test_a_reader_never_sees_half_an_attribute(host: SimulatedHost) -> None:
    card = host.add_card("d5005")
    seen: set[str] = set()
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            seen.add(card.path_of("afu_id").read_text())

    reader = threading.Thread(target=read, name="reader", daemon=True)
    reader.start()
    ids = [f"{number:032x}" for number in range(1, 60)]
    for afu_id in ids:
        card.set_afu_id(afu_id)
    ended.set()
    reader.join(5)
    assert {len(text) for text in seen} == {33}


def test_faults_leave_other_cards_alone(host: SimulatedHost) -> None:
    other = host.add_card("n3000")
    before = {
        path: content for path, content in snapshot(host.root).items() if other.id[:10] in path
    }
    card = host.add_card("n6000")
    card.overheat()
    card.hang_read()
    card.unplug()
    after = {
        path: content for path, content in snapshot(host.root).items() if other.id[:10] in path
    }
    assert after == before
