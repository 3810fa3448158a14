"""Holders against a real PodResources service: from Allocate to the pod's end, over restarts."""

import threading
import time

import pytest

from fpga_common.domain.card import RegionState
from fpga_common.domain.names import DEFAULT_RESOURCE
from fpga_common.testing.kubelet import FakeKubelet
from fpga_common.testing.waiting import wait_for
from fpga_plugin.kubelet import DeviceHolder, KubeletSide, PodResourcesUnavailable
from fpga_plugin.settings import PluginSettings
from support.fixed_inventory import FixedInventory
from support.plugin_cards import make_card

from .conftest import MakeSide
from .test_plugin_allocation import FIRST, LIMIT, SECOND, allocate


def soon() -> float:
    return time.monotonic() + 5


def holder(side: KubeletSide, device: str) -> DeviceHolder | None:
    return side.holders.fresh_holder(device, soon())


def test_a_running_pod_is_the_holder_by_name(kubelet: FakeKubelet, make_side: MakeSide) -> None:
    kubelet.start()
    side = make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    (device,) = kubelet.run_pod("one", "team", limits=LIMIT).containers["main"].device_ids
    found = holder(side, device)
    assert found is not None
    assert (found.source, found.namespace, found.pod, found.container, found.resource) == (
        "podresources",
        "team",
        "one",
        "main",
        DEFAULT_RESOURCE,
    )
    other = SECOND if device == FIRST else FIRST
    assert holder(side, other) is None


def test_a_device_is_held_from_allocate_on_before_the_kubelet_shows_it(
    kubelet: FakeKubelet, make_side: MakeSide, settings: PluginSettings
) -> None:
    kubelet.start()
    side = make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    allocate(settings, [FIRST])
    assert [(each.device, each.source) for each in side.holders.current()] == [(FIRST, "journal")]
    found = holder(side, FIRST)
    assert found is not None
    assert found.source == "journal"


def test_a_device_is_free_as_soon_as_the_kubelet_has_dropped_its_pod(
    kubelet: FakeKubelet, make_side: MakeSide
) -> None:
    kubelet.start()
    side = make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    (device,) = kubelet.run_pod("one", limits=LIMIT).containers["main"].device_ids
    assert holder(side, device) is not None
    kubelet.delete_pod("one")
    assert holder(side, device) is None
    assert side.holders.current() == ()


def test_the_journal_survives_a_restart_of_the_plugin_without_a_kubelet(
    kubelet: FakeKubelet, make_side: MakeSide
) -> None:
    kubelet.start()
    side = make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    (device,) = kubelet.run_pod("one", limits=LIMIT).containers["main"].device_ids
    assert holder(side, device) is not None
    side.stop()
    kubelet.stop()
    (found,) = make_side().holders.current()
    assert (found.device, found.pod, found.source) == (device, "one", "journal")


def test_pods_from_before_the_plugins_first_start_are_found(
    kubelet: FakeKubelet, make_side: MakeSide, settings: PluginSettings
) -> None:
    kubelet.start()
    side = make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    kubelet.run_pod("one", limits=LIMIT)
    side.stop()
    (settings.state_dir / "holders.jsonl").unlink()
    again = make_side()
    (found,) = wait_for(again.holders.current)
    assert found.pod == "one"


def test_a_kubelet_that_shows_no_pods_after_its_restart_frees_nothing(
    kubelet: FakeKubelet, make_side: MakeSide
) -> None:
    kubelet.start()
    side = make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    (device,) = kubelet.run_pod("one", limits=LIMIT).containers["main"].device_ids
    assert holder(side, device) is not None
    kubelet.stop()
    (kubelet.device_plugin_dir / "kubelet_internal_checkpoint").unlink()
    kubelet.start()
    found = holder(side, device)
    assert found is not None
    assert (found.pod, found.source) == ("one", "journal")


def test_without_a_kubelet_nothing_is_certain(kubelet: FakeKubelet, make_side: MakeSide) -> None:
    side = make_side()
    with pytest.raises(PodResourcesUnavailable):
        holder(side, FIRST)
    with pytest.raises(PodResourcesUnavailable):
        side.holders.withdrawn(FIRST, soon())
    kubelet.start()
    kubelet.stop()
    with pytest.raises(PodResourcesUnavailable):
        holder(side, FIRST)


def test_a_device_is_withdrawn_when_the_kubelet_no_longer_offers_it(
    kubelet: FakeKubelet, make_side: MakeSide, inventory: FixedInventory
) -> None:
    kubelet.start()
    side = make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    assert not side.holders.withdrawn(FIRST, soon())
    inventory.show(make_card(1, state=RegionState.RESERVED), make_card(2))
    wait_for(lambda: side.holders.withdrawn(FIRST, soon()), interval=0.05)
    assert not side.holders.withdrawn(SECOND, soon())


def test_a_change_of_holders_is_told(kubelet: FakeKubelet, make_side: MakeSide) -> None:
    kubelet.start()
    side = make_side()
    told = threading.Event()
    side.holders.on_change = told.set
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    kubelet.run_pod("one", limits=LIMIT)
    assert told.wait(10)
    (found,) = wait_for(
        lambda: [each for each in side.holders.current() if each.source == "podresources"]
    )
    assert found.pod == "one"
