"""Admission: which devices, which calls, which words when it fails; what a container sees."""

import threading

import pytest

from fpga_common.testing.kubelet import (
    AdmissionFailed,
    ContainerDevice,
    ContainerMount,
    ContainerNotStarted,
    FakeKubelet,
    InitContainer,
)
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb
from support.sample_plugin import RESOURCE, SamplePlugin, device, devices

from .conftest import MakeKubelet, MakePlugin

PREFERS = pb.DevicePluginOptions(get_preferred_allocation_available=True)
PRE_STARTS = pb.DevicePluginOptions(pre_start_required=True)
OTHER = "example.com/other"


def registered(kubelet: FakeKubelet, plugin: SamplePlugin) -> SamplePlugin:
    plugin.register()
    kubelet.wait_for_resource(plugin.resource, capacity=len(plugin.first or ()))
    return plugin


def refused(kubelet: FakeKubelet, name: str, count: int, resource: str = RESOURCE) -> str:
    with pytest.raises(AdmissionFailed) as caught:
        kubelet.run_pod(name, limits={resource: count})
    assert caught.value.reason == "UnexpectedAdmissionError"
    return caught.value.message


def test_allocate_is_asked_once_a_container_with_the_exact_number(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a", "b", "c")))
    pod = kubelet.run_pod("one", containers={"x": {RESOURCE: 2}, "y": {RESOURCE: 1}})
    assert [len(ids) for ids in plugin.allocations] == [2, 1]
    given = pod.containers["x"].device_ids + pod.containers["y"].device_ids
    assert sorted(given) == ["a", "b", "c"]
    assert pod.containers["x"].envs["IDS"] == ",".join(pod.containers["x"].device_ids)


def test_a_resource_that_no_plugin_offers_is_out_of(kubelet: FakeKubelet) -> None:
    with pytest.raises(AdmissionFailed) as caught:
        kubelet.run_pod("one", limits={RESOURCE: 1})
    assert caught.value.reason == f"OutOf{RESOURCE}"


def test_too_few_free_devices_are_told_with_both_numbers(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    registered(kubelet, make_plugin(first=devices("a", "b")))
    kubelet.run_pod("one", limits={RESOURCE: 1})
    message = refused(kubelet, "two", 2)
    assert f"unavailable for {RESOURCE}. Requested: 2, Available: 1" in message
    assert message.startswith("Allocate failed due to ")


def test_unhealthy_devices_are_not_given(kubelet: FakeKubelet, make_plugin: MakePlugin) -> None:
    registered(kubelet, make_plugin(first=[device("a", "Unhealthy"), device("b")]))
    assert kubelet.run_pod("one", limits={RESOURCE: 1}).containers["main"].device_ids == ("b",)


def test_without_any_healthy_device_the_message_says_so(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    registered(kubelet, make_plugin(first=[device("a", "Unhealthy")]))
    assert "no healthy devices present" in refused(kubelet, "one", 1)


def test_an_error_from_allocate_fails_the_pod_for_good_and_frees_its_devices(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a")))

    def refuse(ids: list[str]) -> None:
        raise RuntimeError("device a is being programmed")

    plugin.on_allocate = refuse
    message = refused(kubelet, "one", 1)
    assert message == (
        "Allocate failed due to rpc error: code = FailedPrecondition "
        "desc = device a is being programmed, which is unexpected"
    )
    plugin.on_allocate = lambda ids: None
    kubelet.run_pod("two", limits={RESOURCE: 1})


def test_preferred_allocation_is_asked_only_when_the_option_is_on(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a", "b")))
    kubelet.run_pod("one", limits={RESOURCE: 1})
    assert plugin.preference_requests == []


def test_preferred_allocation_is_followed(kubelet: FakeKubelet, make_plugin: MakePlugin) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a", "b", "c"), options=PREFERS))
    plugin.prefer = lambda available: ["c"]
    pod = kubelet.run_pod("one", limits={RESOURCE: 1})
    assert pod.containers["main"].device_ids == ("c",)
    (asked,) = plugin.preference_requests
    assert sorted(asked.available_deviceIDs) == ["a", "b", "c"]
    assert (list(asked.must_include_deviceIDs), asked.allocation_size) == ([], 1)


def test_preferred_allocation_is_not_asked_when_there_is_no_choice(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a", "b"), options=PREFERS))
    kubelet.run_pod("one", limits={RESOURCE: 2})
    assert plugin.preference_requests == []


@pytest.mark.parametrize("answer", [[], ["nonsense"], ["b", "nonsense"]])
def test_a_useless_preference_is_filled_up(
    kubelet: FakeKubelet, make_plugin: MakePlugin, answer: list[str]
) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a", "b", "c"), options=PREFERS))
    plugin.prefer = lambda available: answer
    given = kubelet.run_pod("one", limits={RESOURCE: 2}).containers["main"].device_ids
    assert len(set(given)) == 2
    assert set(given) <= {"a", "b", "c"}


def test_admission_is_serial(kubelet: FakeKubelet, make_plugin: MakePlugin) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a", "b")))
    inside, proceed = threading.Event(), threading.Event()

    def hang(ids: list[str]) -> None:
        inside.set()
        proceed.wait(10)

    plugin.on_allocate = hang
    pods = [
        threading.Thread(target=kubelet.run_pod, args=(name,), kwargs={"limits": {RESOURCE: 1}})
        for name in ("one", "two")
    ]
    pods[0].start()
    assert inside.wait(10)
    pods[1].start()
    assert len(plugin.allocations) == 1
    proceed.set()
    for pod in pods:
        pod.join(10)
    assert len(plugin.allocations) == 2


def test_pre_start_is_called_with_the_devices_before_every_start(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a", "b"), options=PRE_STARTS))
    first = kubelet.run_pod("one", limits={RESOURCE: 2}).containers["main"]
    again = kubelet.restart_container("one")
    assert [sorted(ids) for ids in plugin.pre_starts] == [["a", "b"], ["a", "b"]]
    assert len(plugin.allocations) == 1
    assert again == first


def test_a_failed_pre_start_is_tried_again(kubelet: FakeKubelet, make_plugin: MakePlugin) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a"), options=PRE_STARTS))

    def fail_twice(ids: list[str], attempt: int) -> None:
        if attempt < 3:
            raise RuntimeError("not yet")

    plugin.on_pre_start = fail_twice
    kubelet.run_pod("one", limits={RESOURCE: 1})
    assert len(plugin.pre_starts) == 3


def test_a_pod_whose_pre_start_never_succeeds_stays_pending_and_keeps_its_device(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a"), options=PRE_STARTS))

    def fail(ids: list[str], attempt: int) -> None:
        raise RuntimeError("not yet")

    plugin.on_pre_start = fail
    with pytest.raises(ContainerNotStarted) as caught:
        kubelet.run_pod("one", limits={RESOURCE: 1}, timeout=0.05)
    assert caught.value.reason == "CreateContainerConfigError"
    assert "not yet" in caught.value.message
    refused(kubelet, "two", 1)
    plugin.on_pre_start = lambda ids, attempt: None
    assert kubelet.start_pod("one").containers["main"].device_ids == ("a",)


def test_a_pre_start_beyond_its_limit_is_cut_off_and_tried_again(
    make_kubelet: MakeKubelet, make_plugin: MakePlugin
) -> None:
    kubelet = make_kubelet(prestart_timeout=0.1)
    plugin = registered(kubelet, make_plugin(first=devices("a"), options=PRE_STARTS))
    never = threading.Event()

    def hang_once(ids: list[str], attempt: int) -> None:
        if attempt == 1:
            never.wait(5)

    plugin.on_pre_start = hang_once
    kubelet.run_pod("one", limits={RESOURCE: 1})
    never.set()
    assert len(plugin.pre_starts) == 2


def test_devices_of_a_deleted_pod_are_given_again(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    registered(kubelet, make_plugin(first=devices("a")))
    kubelet.run_pod("one", limits={RESOURCE: 1})
    kubelet.delete_pod("one")
    kubelet.run_pod("two", limits={RESOURCE: 1})


def test_devices_of_an_ended_pod_are_given_again(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    registered(kubelet, make_plugin(first=devices("a")))
    kubelet.run_pod("one", limits={RESOURCE: 1})
    kubelet.finish_pod("one")
    kubelet.run_pod("two", limits={RESOURCE: 1})


def test_devices_of_an_init_container_are_used_again_by_a_later_container(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a", "b")))
    pod = kubelet.run_pod(
        "one",
        init_containers=[InitContainer("setup", {RESOURCE: 1})],
        containers={"x": {RESOURCE: 1}, "y": {RESOURCE: 1}},
    )
    assert pod.containers["setup"].device_ids == pod.containers["x"].device_ids
    assert pod.containers["x"].device_ids != pod.containers["y"].device_ids
    assert len(plugin.allocations) == 3


def test_a_restartable_init_container_keeps_its_devices(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    registered(kubelet, make_plugin(first=devices("a", "b")))
    pod = kubelet.run_pod(
        "one",
        init_containers=[InitContainer("sidecar", {RESOURCE: 1}, restartable=True)],
        limits={RESOURCE: 1},
    )
    assert pod.containers["sidecar"].device_ids != pod.containers["main"].device_ids


def test_answers_of_two_resources_merge_and_the_first_wins(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    one = registered(kubelet, make_plugin(first=devices("a")))
    two = registered(
        kubelet, make_plugin(endpoint="other.sock", resource=OTHER, first=devices("b"))
    )

    def answer(tag: str, permissions: str) -> pb.ContainerAllocateResponse:
        return pb.ContainerAllocateResponse(
            envs={"SHARED": tag, tag: "1"},
            annotations={"shared": tag},
            mounts=[pb.Mount(container_path="/m", host_path=f"/{tag}", read_only=True)],
            devices=[
                pb.DeviceSpec(
                    container_path="/dev/x", host_path="/dev/null", permissions=permissions
                )
            ],
            cdi_devices=[pb.CDIDevice(name="v.com/c=x"), pb.CDIDevice(name=f"v.com/c={tag}")],
        )

    one.answer = lambda ids: answer("one", "rw")
    two.answer = lambda ids: answer("two", "r")
    main = kubelet.run_pod("pod", limits={RESOURCE: 1, OTHER: 1}).containers["main"]
    assert main.envs == {"SHARED": "one", "one": "1", "two": "1"}
    assert main.annotations == {"shared": "one"}
    assert main.mounts == (ContainerMount("/m", "/one", True),)
    assert main.devices == (ContainerDevice("/dev/x", "/dev/null", "rw"),)
    assert main.cdi == ("v.com/c=x", "v.com/c=one", "v.com/c=two")
    assert main.device_ids_by_resource == {RESOURCE: ("a",), OTHER: ("b",)}


def test_a_device_path_that_is_no_device_node_does_not_start(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = registered(kubelet, make_plugin(first=devices("a")))
    spec = pb.DeviceSpec(container_path="/dev/x", host_path="/etc/passwd", permissions="rw")
    plugin.answer = lambda ids: pb.ContainerAllocateResponse(devices=[spec])
    with pytest.raises(ContainerNotStarted, match="not a device node"):
        kubelet.run_pod("one", limits={RESOURCE: 1}, timeout=0.05)


def test_a_pod_without_devices_runs(kubelet: FakeKubelet) -> None:
    assert kubelet.run_pod("plain").containers["main"].device_ids == ()
