"""ListAndWatch: full lists, exact health, ends that are never retried, the grace of capacity."""

import pytest

from fpga_common.testing.kubelet import DeviceView, FakeKubelet
from fpga_common.testing.waiting import wait_for
from support.sample_plugin import RESOURCE, device, devices

from .conftest import MakeKubelet, MakePlugin


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_each_message_is_a_full_list(kubelet: FakeKubelet, make_plugin: MakePlugin) -> None:
    plugin = make_plugin(first=devices("a", "b", "c"))
    plugin.register()
    kubelet.wait_for_resource(RESOURCE, capacity=3)
    plugin.send(devices("d"))
    assert list(kubelet.wait_for_resource(RESOURCE, capacity=1).devices) == ["d"]


def test_an_empty_list_is_a_resource_with_capacity_0(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    make_plugin(first=[]).register()
    kubelet.wait_for_resource(RESOURCE, capacity=0, allocatable=0)


def test_before_the_first_list_there_is_no_resource(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = make_plugin(first=None)
    plugin.register()
    assert kubelet.resources() == {}
    plugin.send(devices("a"))
    kubelet.wait_for_resource(RESOURCE, capacity=1)


def test_health_compares_exactly(kubelet: FakeKubelet, make_plugin: MakePlugin) -> None:
    healths = {"a": "Healthy", "b": "Unhealthy", "c": "healthy", "d": ""}
    make_plugin(first=[device(id_, health) for id_, health in healths.items()]).register()
    kubelet.wait_for_resource(RESOURCE, capacity=4, allocatable=1)


@pytest.mark.parametrize(
    ("healths", "capacity", "allocatable"),
    [
        ([("x", "Healthy"), ("x", "Unhealthy"), ("y", "Healthy")], 3, 2),
        ([("x", "Healthy"), ("x", "Healthy")], 1, 1),
    ],
)
def test_healthy_and_unhealthy_ids_are_kept_apart(
    kubelet: FakeKubelet,
    make_plugin: MakePlugin,
    healths: list[tuple[str, str]],
    capacity: int,
    allocatable: int,
) -> None:
    make_plugin(first=[device(*each) for each in healths]).register()
    kubelet.wait_for_resource(RESOURCE, capacity=capacity, allocatable=allocatable)


def test_the_numa_nodes_of_a_device_are_recorded(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    make_plugin(first=[device("a", numa=[1]), device("b")]).register()
    view = kubelet.wait_for_resource(RESOURCE, capacity=2)
    assert view.devices == {"a": DeviceView("Healthy", (1,)), "b": DeviceView("Healthy", ())}


def test_a_stream_that_returns_keeps_capacity_and_loses_allocatable(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = make_plugin(first=devices("a", "b"))
    plugin.register()
    kubelet.wait_for_resource(RESOURCE, allocatable=2)
    plugin.end_stream()
    kubelet.wait_for_resource(RESOURCE, capacity=2, allocatable=0)


def test_a_plugin_that_dies_keeps_capacity_and_loses_allocatable(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = make_plugin(first=devices("a"))
    plugin.register()
    kubelet.wait_for_resource(RESOURCE, allocatable=1)
    plugin.stop()
    kubelet.wait_for_resource(RESOURCE, capacity=1, allocatable=0)


def test_after_the_grace_capacity_is_0_and_the_name_stays(
    make_kubelet: MakeKubelet, make_plugin: MakePlugin
) -> None:
    clock = Clock()
    kubelet = make_kubelet(clock=clock)
    plugin = make_plugin(first=devices("a"))
    plugin.register()
    kubelet.wait_for_resource(RESOURCE, allocatable=1)
    plugin.end_stream()
    kubelet.wait_for_resource(RESOURCE, allocatable=0)
    clock.now += 299
    assert kubelet.resources()[RESOURCE].capacity == 1
    clock.now += 2
    assert kubelet.resources()[RESOURCE].capacity == 0


def test_a_registration_within_the_grace_brings_the_devices_back(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = make_plugin(first=devices("a"))
    plugin.register()
    kubelet.wait_for_resource(RESOURCE, allocatable=1)
    plugin.end_stream()
    kubelet.wait_for_resource(RESOURCE, allocatable=0)
    plugin.register()
    kubelet.wait_for_resource(RESOURCE, capacity=1, allocatable=1)


def test_after_a_restart_known_resources_have_no_devices_until_the_plugin_registers(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = make_plugin(first=devices("a"))
    plugin.register()
    kubelet.wait_for_resource(RESOURCE, allocatable=1)
    kubelet.restart()
    assert kubelet.resources()[RESOURCE].capacity == 0
    again = make_plugin(endpoint="again.sock", first=devices("a"))
    again.register()
    kubelet.wait_for_resource(RESOURCE, capacity=1, allocatable=1)


def test_a_list_beyond_four_mebibytes_breaks_the_stream(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = make_plugin(first=devices("a"))
    plugin.register()
    kubelet.wait_for_resource(RESOURCE, allocatable=1)
    plugin.send(devices(*(f"{number:064d}" for number in range(60_000))))
    kubelet.wait_for_resource(RESOURCE, capacity=1, allocatable=0)


def test_ten_thousand_devices_are_taken(kubelet: FakeKubelet, make_plugin: MakePlugin) -> None:
    make_plugin(first=devices(*(f"{number:064d}" for number in range(10_000)))).register()
    wait_for(lambda: kubelet.resources().get(RESOURCE))
    kubelet.wait_for_resource(RESOURCE, allocatable=10_000)
