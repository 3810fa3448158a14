"""What a kubelet remembers over a restart, and what PodResources shows of it."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from fpga_common.testing.kubelet import AdmissionFailed, FakeKubelet, InitContainer
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as device_plugin
from fpga_common.wire.kubelet.podresources.v1 import podresources_pb2 as pb
from fpga_common.wire.kubelet.podresources.v1.podresources_pb2_grpc import PodResourcesListerStub
from support.sample_plugin import RESOURCE, SamplePlugin, device, devices

from .conftest import MakeKubelet, MakePlugin

PRE_STARTS = device_plugin.DevicePluginOptions(pre_start_required=True)


@pytest.fixture
def lister(kubelet: FakeKubelet) -> Iterator[PodResourcesListerStub]:
    with grpc.insecure_channel(f"unix:{kubelet.pod_resources_socket}") as channel:
        yield PodResourcesListerStub(channel)


def registered(kubelet: FakeKubelet, plugin: SamplePlugin) -> SamplePlugin:
    plugin.register()
    kubelet.wait_for_resource(plugin.resource, capacity=len(plugin.first or ()))
    return plugin


def shown(lister: PodResourcesListerStub) -> dict[str, list[str]]:
    pods = lister.List(pb.ListPodResourcesRequest(), timeout=5).pod_resources
    return {
        f"{pod.name}/{container.name}": [
            id_ for entry in container.devices for id_ in entry.device_ids
        ]
        for pod in pods
        for container in pod.containers
    }


def checkpoint(kubelet: FakeKubelet) -> Path:
    return kubelet.device_plugin_dir / "kubelet_internal_checkpoint"


def test_the_checkpoint_has_the_kubelets_form(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    registered(kubelet, make_plugin(first=[device("a", numa=[1]), device("b", "Unhealthy")]))
    pod = kubelet.run_pod("one", limits={RESOURCE: 1})
    assert checkpoint(kubelet).stat().st_mode & 0o777 == 0o600
    document: dict[str, Any] = json.loads(checkpoint(kubelet).read_text())
    assert document.keys() == {"Data", "Checksum"}
    assert document["Data"]["RegisteredDevices"] == {RESOURCE: ["a"]}
    (entry,) = document["Data"]["PodDeviceEntries"]
    answer = base64.b64decode(entry.pop("AllocResp"))
    assert device_plugin.ContainerAllocateResponse.FromString(answer).envs["IDS"] == "a"
    assert entry == {
        "PodUID": pod.uid,
        "ContainerName": "main",
        "ResourceName": RESOURCE,
        "DeviceIDs": {"1": ["a"]},
    }


def test_nothing_but_the_checkpoint_and_sockets_lies_in_the_folder(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    registered(kubelet, make_plugin(first=devices("a")))
    files = [path.name for path in kubelet.device_plugin_dir.iterdir() if path.is_file()]
    assert files == ["kubelet_internal_checkpoint"]


def test_devices_of_running_pods_stay_theirs_over_a_restart(
    kubelet: FakeKubelet, make_plugin: MakePlugin, lister: PodResourcesListerStub
) -> None:
    registered(kubelet, make_plugin(first=devices("a")))
    before = kubelet.run_pod("one", limits={RESOURCE: 1}).containers["main"]
    kubelet.restart()
    plugin = registered(kubelet, make_plugin(endpoint="again.sock", first=devices("a")))
    with pytest.raises(AdmissionFailed, match="Available: 0"):
        kubelet.run_pod("two", limits={RESOURCE: 1})
    assert kubelet.restart_container("one") == before
    assert plugin.allocations == []


def test_pods_fail_after_a_restart_until_the_plugin_registers_again(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    registered(kubelet, make_plugin(first=devices("a")))
    kubelet.restart()
    with pytest.raises(AdmissionFailed, match="no healthy devices present"):
        kubelet.run_pod("one", limits={RESOURCE: 1})


@pytest.mark.parametrize("damage", ["absent", "corrupt", "checksum"])
def test_without_a_good_checkpoint_held_devices_look_free(
    kubelet: FakeKubelet, make_plugin: MakePlugin, damage: str
) -> None:
    registered(kubelet, make_plugin(first=devices("a")))
    kubelet.run_pod("one", limits={RESOURCE: 1})
    kubelet.stop()
    text = checkpoint(kubelet).read_text()
    checkpoint(kubelet).unlink()
    if damage != "absent":
        changed = text[:40] if damage == "corrupt" else text.replace('"main"', '"niam"')
        checkpoint(kubelet).write_text(changed)
    kubelet.start()
    registered(kubelet, make_plugin(endpoint="again.sock", first=devices("a")))
    kubelet.run_pod("two", limits={RESOURCE: 1})


def test_list_shows_pods_with_one_entry_a_device(
    kubelet: FakeKubelet, make_plugin: MakePlugin, lister: PodResourcesListerStub
) -> None:
    registered(kubelet, make_plugin(first=[device("a", numa=[1]), device("b")]))
    kubelet.run_pod("one", "team", limits={RESOURCE: 2})
    (pod,) = lister.List(pb.ListPodResourcesRequest(), timeout=5).pod_resources
    assert (pod.name, pod.namespace, pod.containers[0].name) == ("one", "team", "main")
    entries = {tuple(entry.device_ids): entry for entry in pod.containers[0].devices}
    assert [node.ID for node in entries["a",].topology.nodes] == [1]
    assert not entries["b",].HasField("topology")
    assert {entry.resource_name for entry in entries.values()} == {RESOURCE}


def test_a_fresh_allocation_is_hidden_during_allocate_and_seen_at_pre_start(
    kubelet: FakeKubelet, make_plugin: MakePlugin, lister: PodResourcesListerStub
) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a"), options=PRE_STARTS))
    seen: list[dict[str, list[str]]] = []
    plugin.on_allocate = lambda ids: seen.append(shown(lister))
    plugin.on_pre_start = lambda ids, attempt: seen.append(shown(lister))
    kubelet.run_pod("one", limits={RESOURCE: 1})
    assert seen == [{"one/main": []}, {"one/main": ["a"]}]


def test_ended_and_deleted_pods_are_left_out(
    kubelet: FakeKubelet, make_plugin: MakePlugin, lister: PodResourcesListerStub
) -> None:
    registered(kubelet, make_plugin(first=devices("a", "b")))
    kubelet.run_pod("one", limits={RESOURCE: 1})
    kubelet.run_pod("two", limits={RESOURCE: 1})
    kubelet.finish_pod("one")
    assert list(shown(lister)) == ["two/main"]
    kubelet.delete_pod("two")
    assert shown(lister) == {}


def test_only_restartable_init_containers_are_listed(
    kubelet: FakeKubelet, make_plugin: MakePlugin, lister: PodResourcesListerStub
) -> None:
    registered(kubelet, make_plugin(first=devices("a", "b")))
    kubelet.run_pod(
        "one",
        init_containers=[
            InitContainer("setup", {RESOURCE: 1}),
            InitContainer("sidecar", {RESOURCE: 1}, restartable=True),
        ],
        limits={},
    )
    assert list(shown(lister)) == ["one/sidecar", "one/main"]


def test_allocatable_resources_are_the_healthy_devices(
    kubelet: FakeKubelet, make_plugin: MakePlugin, lister: PodResourcesListerStub
) -> None:
    registered(kubelet, make_plugin(first=[device("a"), device("b", "Unhealthy")]))
    answer = lister.GetAllocatableResources(pb.AllocatableResourcesRequest(), timeout=5)
    assert [list(entry.device_ids) for entry in answer.devices] == [["a"]]


def test_get_finds_an_active_pod_and_refuses_any_other(
    kubelet: FakeKubelet, lister: PodResourcesListerStub
) -> None:
    kubelet.run_pod("one")
    kubelet.run_pod("two")
    kubelet.finish_pod("two")
    request = pb.GetPodResourcesRequest(pod_name="one", pod_namespace="default")
    assert lister.Get(request, timeout=5).pod_resources.name == "one"
    for name in ("two", "three"):
        with pytest.raises(grpc.RpcError, match="not found"):
            lister.Get(pb.GetPodResourcesRequest(pod_name=name, pod_namespace="default"), timeout=5)


def test_pod_resources_refuses_more_than_its_burst(make_kubelet: MakeKubelet) -> None:
    kubelet = make_kubelet(clock=lambda: 0.0)
    with grpc.insecure_channel(f"unix:{kubelet.pod_resources_socket}") as channel:
        lister = PodResourcesListerStub(channel)
        for _ in range(10):
            shown(lister)
        with pytest.raises(grpc.RpcError, match="rejected by rate limit"):
            shown(lister)
