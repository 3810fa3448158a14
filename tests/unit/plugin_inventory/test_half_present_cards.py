"""Cards that lack something: each is listed with the reason."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fpga_common.domain.card import Card, RegionState
from fpga_common.domain.health import HealthStatus
from fpga_common.testing.sim import SimulatedCard, SimulatedHost
from fpga_common.testing.waiting import wait_for
from fpga_plugin.inventory.once import read_once
from fpga_plugin.inventory.store import InventoryStore

MakeStore = Callable[..., InventoryStore]


def only_card(host: SimulatedHost) -> Card:
    (card,) = read_once(host.root)
    return card


def fme(card: SimulatedCard) -> Path:
    (folder,) = card.path_of("fpga_region").glob("region*/dfl-fme.*")
    return folder


def port(card: SimulatedCard) -> Path:
    (folder,) = card.path_of("fpga_region").glob("region*/dfl-port.*")
    return folder


def remove_pr_devices(card: SimulatedCard) -> None:
    for folder in fme(card).glob("dfl-fme-*"):
        shutil.rmtree(folder)


def unbind(host: SimulatedHost, card: SimulatedCard) -> None:
    for link in (host.root / "sys/class/fpga_region").iterdir():
        if f"/{card.id[:-1]}" in str(link.readlink()):
            link.unlink()
    for function in card.path_of("").parent.glob(f"{card.id[:-1]}*"):
        shutil.rmtree(function / "fpga_region", ignore_errors=True)
        (function / "driver").unlink()


def set_subsystem(card: SimulatedCard, device: str) -> None:
    card.path_of("subsystem_device").write_text(f"0x{device}\n")


def test_a_card_without_its_reconfiguration_modules_is_unusable_and_names_them(
    host: SimulatedHost,
) -> None:
    card = host.add_card("pac-a10")
    remove_pr_devices(card)
    region = only_card(host).regions[0]
    assert region.state is RegionState.UNUSABLE
    assert "dfl_fme_region" in region.reason
    assert region.health.status is HealthStatus.UNHEALTHY


def test_devices_for_reconfiguration_without_drivers_are_unusable_whatever_the_card(
    host: SimulatedHost,
) -> None:
    card = host.add_card("n6000")
    for inside in fme(card).glob("dfl-fme-region.*/fpga_region"):
        shutil.rmtree(inside)
    assert only_card(host).regions[0].state is RegionState.UNUSABLE


def test_a_card_that_cannot_be_reconfigured_has_a_static_healthy_region(
    host: SimulatedHost,
) -> None:
    card = host.add_card("n6000")
    set_subsystem(card, "17d4")
    remove_pr_devices(card)
    region = only_card(host).regions[0]
    assert region.state is RegionState.STATIC
    assert region.interface_id is None
    assert region.health.allocatable


def test_an_empty_interface_id_is_unusable(host: SimulatedHost) -> None:
    card = host.add_card("pac-a10")
    card.path_of("compat_id").write_text("\n")
    region = only_card(host).regions[0]
    assert region.state is RegionState.UNUSABLE
    assert region.interface_id is None


def test_a_port_that_is_not_there_is_an_unusable_region(host: SimulatedHost) -> None:
    card = host.add_card("pac-a10")
    shutil.rmtree(port(card))
    region = only_card(host).regions[0]
    assert region.id == card.region_id
    assert region.state is RegionState.UNUSABLE
    assert "port" in region.reason
    assert region.device_nodes == ()


def test_a_card_with_neither_fme_nor_port_is_listed_and_unusable(host: SimulatedHost) -> None:
    card = host.add_card("pac-a10")
    shutil.rmtree(port(card))
    shutil.rmtree(fme(card))
    found = only_card(host)
    assert found.id == card.id
    assert found.regions[0].state is RegionState.UNUSABLE


@pytest.mark.parametrize("profile", ["pac-a10", "n6000"])
def test_a_known_card_without_driver_is_listed_with_the_reason(
    host: SimulatedHost, profile: str
) -> None:
    card = host.add_card(profile)
    unbind(host, card)
    found = only_card(host)
    assert found.id == card.id
    assert found.regions[0].state is RegionState.UNUSABLE
    assert "driver missing" in found.regions[0].reason
    assert found.health.status is HealthStatus.UNHEALTHY


def test_a_card_given_to_vfio_names_the_driver_it_has(host: SimulatedHost) -> None:
    card = host.add_card("pac-a10")
    unbind(host, card)
    card.path_of("driver").symlink_to("/sys/bus/pci/drivers/vfio-pci")
    assert "vfio-pci is bound" in only_card(host).regions[0].reason


def test_an_unknown_device_without_driver_is_not_called_an_fpga(host: SimulatedHost) -> None:
    card = host.add_card("pac-a10")
    card.path_of("device").write_text("0x1234\n")
    unbind(host, card)
    assert read_once(host.root) == ()


def test_an_unknown_card_with_the_driver_works_and_is_named_by_its_ids(
    host: SimulatedHost,
) -> None:
    card = host.add_card("pac-a10")
    card.path_of("vendor").write_text("0xabcd\n")
    found = only_card(host)
    assert found.model == "abcd:09c4"
    assert found.regions[0].state is RegionState.READY


def test_a_card_whose_driver_is_taken_away_turns_unusable(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    card = host.add_card("pac-a10")
    store = make_store()
    unbind(host, card)

    def unusable() -> bool:
        found = store.snapshot().region(card.region_id)
        return found is not None and "driver missing" in found[1].reason

    wait_for(unusable)


def test_a_card_that_no_longer_answers_on_the_bus_is_unhealthy(host: SimulatedHost) -> None:
    card = host.add_card("pac-a10")
    card.path_of("config").write_bytes(b"\xff" * 64)
    found = only_card(host)
    assert [reason.check for reason in found.health.reasons] == ["config_space"]


def test_an_unreadable_config_space_is_unhealthy_on_a_complete_host(host: SimulatedHost) -> None:
    card = host.add_card("pac-a10")
    card.path_of("config").unlink()
    assert only_card(host).health.status is HealthStatus.UNHEALTHY


def test_a_missing_config_space_is_no_fault_of_a_copied_tree(
    host: SimulatedHost, tmp_path: Path
) -> None:
    card = host.add_card("pac-a10")
    card.path_of("config").unlink()
    card.path_of("driver").unlink()
    copied = tmp_path / "copied"
    shutil.copytree(host.root, copied, symlinks=True, ignore=shutil.ignore_patterns(".fpga-sim"))
    (found,) = read_once(copied)
    assert found.health.status is HealthStatus.HEALTHY


@pytest.mark.parametrize(
    ("register", "status"),
    [
        ("catfatal_errors", HealthStatus.UNHEALTHY),
        ("nonfatal_errors", HealthStatus.WARNING),
        ("pcie0_errors", HealthStatus.WARNING),
    ],
)
def test_an_fme_error_register_decides_by_its_kind(
    host: SimulatedHost, register: str, status: HealthStatus
) -> None:
    card = host.add_card("pac-a10")
    (fme(card) / "errors" / register).write_text("0x4\n")
    found = only_card(host)
    assert found.health.status is status
    assert found.health.reasons[0].observed == f"{register}=0x4"


def test_a_port_error_is_a_warning_of_its_region(host: SimulatedHost) -> None:
    card = host.add_card("pac-a10")
    (port(card) / "errors/errors").write_text("0x1\n")
    region = only_card(host).regions[0]
    assert [reason.check for reason in region.health.reasons] == ["port_errors"]
    assert region.health.allocatable


def test_a_virtual_function_belongs_to_its_card(host: SimulatedHost) -> None:
    card = host.add_card("pac-a10", slot="0000:3b:00")
    physical = card.path_of("")
    virtual = physical.parent / "0000:3b:00.1"
    shutil.copytree(physical, virtual, symlinks=True)
    shutil.rmtree(virtual / "fpga_region")
    (virtual / "fpga_region/region9").mkdir(parents=True)
    port(card).rename(virtual / "fpga_region/region9/dfl-port.0")
    (virtual / "physfn").symlink_to("../0000:3b:00.0")
    (physical / "virtfn0").symlink_to("../0000:3b:00.1")
    target = f"../../../{virtual.relative_to(host.root)}/fpga_region/region9"
    (host.root / "sys/class/fpga_region/region9").symlink_to(target)
    found = only_card(host)
    assert [str(function.address) for function in found.functions] == ["0000:3b:00.0"]
    (function,) = found.virtual_functions
    assert (str(function.address), str(function.physical_function)) == (
        "0000:3b:00.1",
        "0000:3b:00.0",
    )
    assert found.regions[0].device_nodes == (card.device_node,)


def test_a_port_name_without_number_is_taken(host: SimulatedHost) -> None:
    card = host.add_card("pac-a10")
    port(card).rename(port(card).with_name("dfl-port.a"))
    (host.root / card.device_node.lstrip("/")).rename(host.root / "dev/dfl-port.a")
    region = only_card(host).regions[0]
    assert region.id == card.region_id
    assert region.device_nodes == ("/dev/dfl-port.a",)
    assert region.health.allocatable
