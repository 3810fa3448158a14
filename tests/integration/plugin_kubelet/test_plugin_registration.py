"""Registration: before there is a kubelet, over restarts, after every way to lose it."""

import socket
from functools import partial
from pathlib import Path

import pytest

from fpga_common.domain.health import HealthStatus
from fpga_common.domain.names import DEFAULT_RESOURCE
from fpga_common.testing.kubelet import FakeKubelet, KubeletOptions
from fpga_common.testing.waiting import wait_for
from fpga_plugin.settings import PluginSettings
from support.fixed_inventory import FixedInventory
from support.plugin_cards import make_card

from .conftest import MakeSide


def own_socket(settings: PluginSettings) -> Path:
    return settings.kubelet.plugin_socket("fpga")


def registered_since(kubelet: FakeKubelet, before: int) -> bool:
    return len(kubelet.registration_times(DEFAULT_RESOURCE)) > before


def test_the_plugin_registers_and_lists_its_devices(
    kubelet: FakeKubelet, make_side: MakeSide
) -> None:
    kubelet.start()
    side = make_side()
    view = kubelet.wait_for_resource(DEFAULT_RESOURCE, capacity=2, allocatable=2)
    assert {id_: device.numa_nodes for id_, device in view.devices.items()} == {
        "0000:01:00.0-r0": (0,),
        "0000:02:00.0-r0": (0,),
    }
    assert side.pool_reports() == [
        {
            "resource": DEFAULT_RESOURCE,
            "devices": ["0000:01:00.0-r0", "0000:02:00.0-r0"],
            "healthy": 2,
            "registered": True,
            "registration_error": None,
        }
    ]


def test_a_plugin_that_starts_before_the_kubelet_waits_and_says_so(
    kubelet: FakeKubelet, make_side: MakeSide
) -> None:
    side = make_side()
    wait_for(lambda: side.pool_reports()[0]["registration_error"])
    assert "no kubelet at" in side.pool_reports()[0]["registration_error"]
    kubelet.start()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    wait_for(lambda: side.pool_reports()[0]["registered"])


def test_a_stale_kubelet_socket_is_waited_out(kubelet: FakeKubelet, make_side: MakeSide) -> None:
    kubelet.start()
    kubelet.stop()
    side = make_side()
    wait_for(lambda: "UNAVAILABLE" in str(side.pool_reports()[0]["registration_error"]))
    kubelet.start()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)


def test_five_kubelet_restarts_are_followed(kubelet: FakeKubelet, make_side: MakeSide) -> None:
    kubelet.start()
    make_side()
    for _ in range(5):
        kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
        kubelet.restart()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)


def test_a_removed_own_socket_is_made_anew(
    kubelet: FakeKubelet, make_side: MakeSide, settings: PluginSettings
) -> None:
    kubelet.start()
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    own_socket(settings).unlink()
    wait_for(own_socket(settings).is_socket)
    wait_for(lambda: len(kubelet.registration_times(DEFAULT_RESOURCE)) == 2)
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    kubelet.run_pod("one", limits={DEFAULT_RESOURCE: 1})


@pytest.mark.parametrize("with_bug", [False, True])
def test_a_stream_that_the_kubelet_drops_is_replaced(
    root: Path, make_side: MakeSide, with_bug: bool
) -> None:
    with FakeKubelet(root, KubeletOptions(stale_cleanup_bug=with_bug)) as kubelet:
        make_side()
        kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
        for _ in range(3):
            before = len(kubelet.registration_times(DEFAULT_RESOURCE))
            kubelet.drop_stream(DEFAULT_RESOURCE)
            wait_for(partial(registered_since, kubelet, before))
            kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)


def test_a_socket_left_by_a_killed_plugin_is_replaced(
    kubelet: FakeKubelet, make_side: MakeSide, settings: PluginSettings
) -> None:
    kubelet.start()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(own_socket(settings)))
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)


def test_stop_removes_the_socket_and_leaves_nothing_in_the_kubelets_folder(
    kubelet: FakeKubelet, make_side: MakeSide
) -> None:
    kubelet.start()
    side = make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    side.stop()
    names = {path.name for path in kubelet.device_plugin_dir.iterdir()}
    assert names == {"kubelet.sock", "kubelet_internal_checkpoint"}
    kubelet.wait_for_resource(DEFAULT_RESOURCE, capacity=2, allocatable=0)


def test_a_plugin_restart_brings_the_devices_back(
    kubelet: FakeKubelet, make_side: MakeSide
) -> None:
    kubelet.start()
    make_side().stop()
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)


def test_a_refused_registration_is_reported_and_tried_again(
    root: Path, make_side: MakeSide, inventory: FixedInventory
) -> None:
    with FakeKubelet(root) as kubelet:
        kubelet.refuse_registrations("not today")
        side = make_side()
        wait_for(lambda: "not today" in str(side.pool_reports()[0]["registration_error"]))
        kubelet.refuse_registrations(None)
        kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)


def test_only_real_changes_are_sent(
    kubelet: FakeKubelet, make_side: MakeSide, inventory: FixedInventory
) -> None:
    kubelet.start()
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    inventory.show(make_card(1, afu_id=None), make_card(2))
    inventory.show(make_card(1, afu_id=None), make_card(2), make_card(3))
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=3)
    assert kubelet.lists_received(DEFAULT_RESOURCE) == 2


def test_faults_and_new_cards_reach_the_kubelet_at_once(
    kubelet: FakeKubelet, make_side: MakeSide, inventory: FixedInventory
) -> None:
    kubelet.start()
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    inventory.show(make_card(1, health=HealthStatus.UNHEALTHY), make_card(2))
    kubelet.wait_for_resource(DEFAULT_RESOURCE, capacity=2, allocatable=1)
    inventory.show(make_card(1), make_card(2), make_card(3))
    kubelet.wait_for_resource(DEFAULT_RESOURCE, capacity=3, allocatable=3)


def test_a_card_that_vanishes_stays_listed_unhealthy(
    kubelet: FakeKubelet, make_side: MakeSide, inventory: FixedInventory
) -> None:
    kubelet.start()
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    inventory.show(make_card(1))
    view = kubelet.wait_for_resource(DEFAULT_RESOURCE, capacity=2, allocatable=1)
    assert view.devices["0000:02:00.0-r0"].health == "Unhealthy"
    inventory.show(make_card(1), make_card(2))
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)


def test_an_unknown_numa_node_is_left_out(
    kubelet: FakeKubelet, make_side: MakeSide, inventory: FixedInventory
) -> None:
    inventory.show(make_card(1, numa_node=-1), make_card(2, numa_node=None))
    kubelet.start()
    make_side()
    view = kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    assert [device.numa_nodes for device in view.devices.values()] == [(), ()]
