"""A simulated host looks like the real ones that captures were taken of."""

import os
import struct
from pathlib import Path

import pytest

from fpga_common.domain.ids import InvalidId
from fpga_common.domain.simulation import is_simulated, read_behaviour
from fpga_common.testing.sim import PROFILES, SimulatedCard, SimulatedHost, UnknownProfile


@pytest.fixture
def host(tmp_path: Path) -> SimulatedHost:
    return SimulatedHost(tmp_path / "host")


def class_entries(host: SimulatedHost, name: str) -> list[Path]:
    return sorted((host.root / "sys/class" / name).iterdir())


def function(host: SimulatedHost, card: SimulatedCard) -> Path:
    return host.root / "sys/bus/pci/devices" / card.id


def test_an_empty_host_is_simulated_and_has_no_cards(host: SimulatedHost) -> None:
    assert is_simulated(host.root)
    assert host.cards == ()


@pytest.mark.parametrize("profile", PROFILES)
def test_every_link_of_a_card_leads_somewhere(host: SimulatedHost, profile: str) -> None:
    host.add_card(profile)
    links = [
        Path(folder, name)
        for folder, folders, files in os.walk(host.root / "sys")
        for name in (*folders, *files)
        if Path(folder, name).is_symlink()
    ]
    assert links
    assert [link for link in links if not link.exists()] == []


@pytest.mark.parametrize("profile", PROFILES)
def test_every_text_attribute_ends_with_a_newline(host: SimulatedHost, profile: str) -> None:
    card = host.add_card(profile)
    texts = {
        path: path.read_bytes().rstrip(b"\0")
        for path in function(host, card).resolve().rglob("*")
        if path.is_file() and path.name != "config"
    }
    assert [path for path, text in texts.items() if text and not text.endswith(b"\n")] == []


@pytest.mark.parametrize("profile", PROFILES)
def test_the_nested_region_is_a_second_class_entry(host: SimulatedHost, profile: str) -> None:
    host.add_card(profile)
    targets = [entry.resolve() for entry in class_entries(host, "fpga_region")]
    assert sum("dfl-fme-region" in str(target) for target in targets) == 1
    assert sum((target / "device").exists() for target in targets) == len(targets)


def test_a_card_tells_its_ids_as_the_tree_has_them(host: SimulatedHost) -> None:
    card = host.add_card("pac-a10", slot="0000:05:00")
    assert card.id == "0000:05:00.0"
    assert card.region_id == "0000:05:00.0-r0"
    assert card.interface_id == "f64e598bea11517fa28e7bc65d885104"
    assert card.afu_id == "d8424dc4a4a3c413f89e433683f9040b"
    assert card.device_node == "/dev/dfl-port.0"
    assert card.path_of("compat_id").read_text() == "F64E598BEA11517FA28E7BC65D885104\n"


def test_the_n6000_has_five_functions_of_which_one_is_a_network_device(
    host: SimulatedHost,
) -> None:
    host.add_card("n6000", slot="0000:01:00.0", numa_node=None)
    functions = sorted((host.root / "sys/bus/pci/devices").iterdir())
    assert [path.name[-1] for path in functions] == list("01234")
    assert (functions[3] / "vendor").read_text() == "0x1af4\n"
    assert (functions[3] / "class").read_text() == "0x120000\n"
    assert not (functions[3] / "fpga_region").exists()
    assert (functions[0] / "numa_node").read_text() == "-1\n"
    assert (functions[0] / "current_link_speed").read_text() == "8 GT/s\n"
    assert len(class_entries(host, "fpga_region")) == 5
    assert host.cards[0].afu_id is None


def test_a_healthy_manager_is_in_state_unknown(host: SimulatedHost) -> None:
    for profile in PROFILES:
        host.add_card(profile)
    states = [(entry / "state").read_text() for entry in class_entries(host, "fpga_manager")]
    assert states == ["unknown\n"] * len(PROFILES)


def test_config_space_starts_with_the_ids(host: SimulatedHost) -> None:
    card = host.add_card("n3000")
    config = (function(host, card) / "config").read_bytes()
    assert struct.unpack_from("<HH", config) == (0x8086, 0x0B30)
    assert len(config) == 256


def test_error_counters_have_the_kernels_format(host: SimulatedHost) -> None:
    card = host.add_card("n3000")
    lines = (function(host, card) / "aer_dev_fatal").read_text().splitlines()
    assert lines[0] == "Undefined 0"
    assert lines[-1] == "TOTAL_ERR_FATAL 0"


def test_sensors_have_the_traps_of_real_boards(host: SimulatedHost) -> None:
    host.add_card("n6000")
    names = {(entry / "name").read_text(): entry for entry in class_entries(host, "hwmon")}
    board = names["n6000bmc_hwmon\n"]
    assert (board / "temp21_input").read_bytes() == b""
    assert (board / "temp31_crit").read_text() == "0\n"
    assert (board / "temp31_input").read_text() == "61000\n"
    assert (names["dfl_fme_thermal\n"] / "temp1_input").read_text() == "0\n"


def test_cards_are_numbered_host_wide_and_sorted_by_id(host: SimulatedHost) -> None:
    late = host.add_card("n6000", slot="0000:d8:00")
    early = host.add_card("pac-a10", slot="0000:3b:00", numa_node=1)
    assert [card.id for card in host.cards] == [early.id, late.id]
    assert (late.device_node, early.device_node) == ("/dev/dfl-port.0", "/dev/dfl-port.1")
    assert sorted(path.name for path in (host.root / "dev").iterdir()) == [
        "dfl-fme.0",
        "dfl-fme.1",
        "dfl-port.0",
        "dfl-port.1",
    ]
    assert (function(host, early) / "numa_node").read_text() == "1\n"


def test_two_dozen_cards_fit_on_one_host(host: SimulatedHost) -> None:
    cards = [host.add_card("n3000") for _ in range(24)]
    assert len({card.id for card in cards}) == 24
    assert len(class_entries(host, "fpga_region")) == 48


def test_a_taken_slot_is_refused(host: SimulatedHost) -> None:
    card = host.add_card("n3000")
    with pytest.raises(InvalidId, match="has a card"):
        host.add_card("n3000", slot=card.id)
    assert len(host.cards) == 1


def test_an_unknown_profile_is_refused_with_the_known_ones(host: SimulatedHost) -> None:
    with pytest.raises(UnknownProfile) as caught:
        host.add_card("vu9p")
    assert caught.value.expected == "pac-a10, n3000, d5005, n6000"


def test_behaviour_is_kept_for_other_processes(host: SimulatedHost) -> None:
    card = host.add_card("n3000")
    card.set_programming_seconds(0.0)
    card.fail_programming("programming_timeout")
    card.read_back("D8424DC4-A4A3-C413-F89E-433683F9040B")
    behaviour = read_behaviour(host.root, card.id)
    assert behaviour.programming_seconds == 0.0
    assert behaviour.fail_programming == "programming_timeout"
    assert behaviour.read_back == "d8424dc4a4a3c413f89e433683f9040b"
