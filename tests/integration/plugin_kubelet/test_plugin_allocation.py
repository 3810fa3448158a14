"""Allocate through real admission: what a container gets, and what is refused in which words."""

import grpc
import pytest

from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus
from fpga_common.domain.names import DEFAULT_RESOURCE
from fpga_common.testing.kubelet import ContainerDevice, FakeKubelet
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb
from fpga_common.wire.kubelet.deviceplugin.v1beta1.deviceplugin_pb2_grpc import DevicePluginStub
from fpga_plugin.settings import PluginSettings
from support.fixed_inventory import FixedInventory
from support.plugin_cards import AFU_ID, INTERFACE_ID, make_card

from .conftest import MakeSide

LIMIT = {DEFAULT_RESOURCE: 1}
FIRST, SECOND = "0000:01:00.0-r0", "0000:02:00.0-r0"


def allocate(settings: PluginSettings, *groups: list[str]) -> pb.AllocateResponse:
    """Call Allocate past the kubelet, with one container request a group."""
    requests = [pb.ContainerAllocateRequest(devices_ids=ids) for ids in groups]
    with grpc.insecure_channel(f"unix:{settings.kubelet.plugin_socket('fpga')}") as channel:
        request = pb.AllocateRequest(container_requests=requests)
        return DevicePluginStub(channel).Allocate(request, timeout=5)


def refusal(settings: PluginSettings, *ids: str) -> str:
    with pytest.raises(grpc.RpcError) as caught:
        allocate(settings, list(ids))
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    return str(caught.value.details())


def test_a_container_gets_the_node_and_is_told_which_card_it_has(
    kubelet: FakeKubelet, make_side: MakeSide, inventory: FixedInventory
) -> None:
    inventory.show(make_card(1), make_card(2, numa_node=None, afu_id=None))
    kubelet.start()
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    main = kubelet.run_pod("one", limits={DEFAULT_RESOURCE: 2}).containers["main"]
    assert main.devices == (
        ContainerDevice("/dev/dfl-port.1", "/dev/null", "rw"),
        ContainerDevice("/dev/dfl-port.2", "/dev/null", "rw"),
    )
    assert main.envs == {
        "FPGA_DEVICE_IDS": f"{FIRST},{SECOND}",
        "FPGA_PCI_ADDRESSES": "0000:01:00.0,0000:02:00.0",
        "FPGA_DEVICE_NODES": "/dev/dfl-port.1,/dev/dfl-port.2",
        "FPGA_AFU_IDS": f"{AFU_ID},",
        "FPGA_INTERFACE_IDS": f"{INTERFACE_ID},{INTERFACE_ID}",
        "FPGA_NUMA_NODES": "0,",
    }
    assert (main.mounts, main.annotations, main.cdi) == ((), {}, ())


def test_a_pod_of_two_containers_gets_two_devices(
    kubelet: FakeKubelet, make_side: MakeSide
) -> None:
    kubelet.start()
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    pod = kubelet.run_pod("one", containers={"x": LIMIT, "y": LIMIT})
    given = [container.envs["FPGA_DEVICE_IDS"] for container in pod.containers.values()]
    assert sorted(given) == [FIRST, SECOND]


def test_the_next_pod_is_put_on_another_card_when_one_turns_unhealthy(
    kubelet: FakeKubelet, make_side: MakeSide, inventory: FixedInventory
) -> None:
    kubelet.start()
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    (given,) = kubelet.run_pod("one", limits=LIMIT).containers["main"].device_ids
    kubelet.delete_pod("one")
    broken = {FIRST: 1, SECOND: 2}[given]
    inventory.show(
        *(
            make_card(bus, health=HealthStatus.UNHEALTHY if bus == broken else HealthStatus.HEALTHY)
            for bus in (1, 2)
        )
    )
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=1)
    (other,) = kubelet.run_pod("two", limits=LIMIT).containers["main"].device_ids
    assert other != given


def test_devices_of_one_numa_node_are_preferred(
    kubelet: FakeKubelet, make_side: MakeSide, inventory: FixedInventory
) -> None:
    inventory.show(*(make_card(bus, numa_node=bus % 2) for bus in range(1, 5)))
    kubelet.start()
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=4)
    main = kubelet.run_pod("one", limits={DEFAULT_RESOURCE: 2}).containers["main"]
    assert len(set(main.envs["FPGA_NUMA_NODES"].split(","))) == 1


def test_several_container_requests_get_an_answer_each(
    kubelet: FakeKubelet, make_side: MakeSide, settings: PluginSettings
) -> None:
    kubelet.start()
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    answer = allocate(settings, [FIRST], [SECOND])
    ids = [each.envs["FPGA_DEVICE_IDS"] for each in answer.container_responses]
    assert ids == [FIRST, SECOND]


def test_a_region_is_refused_from_the_moment_it_is_reserved_and_stays_unheld(
    kubelet: FakeKubelet,
    make_side: MakeSide,
    settings: PluginSettings,
    inventory: FixedInventory,
) -> None:
    kubelet.start()
    side = make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    reason = "programming: operation 7.1"
    inventory.show(make_card(1, state=RegionState.RESERVED, reason=reason), make_card(2))
    assert refusal(settings, FIRST) == (f"device {FIRST} cannot be handed out: reserved: {reason}")
    assert side.holders.current() == ()


def test_a_request_with_one_refused_device_holds_none_of_them(
    kubelet: FakeKubelet,
    make_side: MakeSide,
    settings: PluginSettings,
    inventory: FixedInventory,
) -> None:
    kubelet.start()
    side = make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    inventory.show(make_card(1), make_card(2, state=RegionState.QUARANTINED, reason="mismatch"))
    assert "quarantined: mismatch" in refusal(settings, FIRST, SECOND)
    assert side.holders.current() == ()


def test_an_unknown_device_is_refused(
    kubelet: FakeKubelet, make_side: MakeSide, settings: PluginSettings
) -> None:
    kubelet.start()
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    assert refusal(settings, "0000:09:00.0-r0") == (
        f"{DEFAULT_RESOURCE} has no device '0000:09:00.0-r0'"
    )


def test_a_container_restart_gets_the_same_device_without_asking_again(
    kubelet: FakeKubelet, make_side: MakeSide
) -> None:
    kubelet.start()
    make_side()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2)
    main = kubelet.run_pod("one", limits=LIMIT).containers["main"]
    assert kubelet.restart_container("one") == main
