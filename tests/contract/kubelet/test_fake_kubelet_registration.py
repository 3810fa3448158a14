"""Register: what a kubelet refuses, what it calls back, what it ignores."""

import socket
from pathlib import Path

import grpc
import pytest

from fpga_common.testing.kubelet import FakeKubelet
from fpga_common.testing.waiting import wait_for
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb
from support.sample_plugin import RESOURCE, SamplePlugin, devices

from .conftest import MakeKubelet, MakePlugin

LONG_DOMAIN = ".".join(["a" * 60] * 4)  # 252 characters with the quota prefix, of 253


def refusal(plugin: SamplePlugin, version: str = "v1beta1") -> str:
    with pytest.raises(grpc.RpcError) as caught:
        plugin.register(version=version)
    return str(caught.value.details())


@pytest.mark.parametrize("version", ["v1beta2", "v1alpha", "", "V1BETA1"])
def test_any_version_but_v1beta1_is_refused(
    kubelet: FakeKubelet, make_plugin: MakePlugin, version: str
) -> None:
    assert "is not supported" in refusal(make_plugin(), version)


@pytest.mark.parametrize(
    "name",
    [
        "thing",
        "kubernetes.io/thing",
        "foo-kubernetes.io/thing",
        "requests.example.com/thing",
        "Example.com/thing",
        "example.com/",
        "example.com/-thing",
        "example.com/thing_",
        "example.com/a/b",
        "example..com/thing",
        "example.com/" + "a" * 64,
        "aa" + LONG_DOMAIN + "/thing",
    ],
)
def test_a_wrong_resource_name_is_refused(
    kubelet: FakeKubelet, make_plugin: MakePlugin, name: str
) -> None:
    assert "is invalid" in refusal(make_plugin(resource=name))
    assert kubelet.resources() == {}


@pytest.mark.parametrize(
    "name", ["example.com/T-h.i_ng9", "e/t", "e/" + "a" * 63, "a" + LONG_DOMAIN + "/thing"]
)
def test_a_resource_name_at_the_limits_is_taken(
    kubelet: FakeKubelet, make_plugin: MakePlugin, name: str
) -> None:
    make_plugin(resource=name, first=devices("a")).register()
    kubelet.wait_for_resource(name, capacity=1)


def test_an_endpoint_in_a_sub_folder_is_taken(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    (kubelet.device_plugin_dir / "sub").mkdir()
    make_plugin(endpoint="sub/x.sock", first=devices("a")).register()
    kubelet.wait_for_resource(RESOURCE, capacity=1)


def test_a_socket_that_does_not_answer_is_refused_after_the_dial_limit(
    make_kubelet: MakeKubelet, make_plugin: MakePlugin
) -> None:
    make_kubelet(dial_timeout=0.1)
    plugin = make_plugin()
    plugin.endpoint = "absent.sock"
    assert "failed to dial device plugin" in refusal(plugin)


def test_an_error_from_options_refuses_the_registration(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = make_plugin(first=devices("a"))
    plugin.refuse_options.set()
    assert "no options today" in refusal(plugin)
    assert plugin.streams == 0


def test_options_in_the_request_are_ignored(kubelet: FakeKubelet, make_plugin: MakePlugin) -> None:
    plugin = make_plugin(first=devices("a"))
    plugin.register(request_options=pb.DevicePluginOptions(pre_start_required=True))
    kubelet.wait_for_resource(RESOURCE, allocatable=1)
    kubelet.run_pod("one", limits={RESOURCE: 1})
    assert plugin.pre_starts == []


def test_the_last_registration_of_a_name_wins(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    make_plugin(endpoint="a.sock", first=devices("a")).register()
    kubelet.wait_for_resource(RESOURCE, capacity=1)
    second = make_plugin(endpoint="b.sock", first=devices("b", "c"))
    second.register()
    kubelet.wait_for_resource(RESOURCE, capacity=2)
    kubelet.run_pod("one", limits={RESOURCE: 1})
    assert second.allocations == [["b"]]


def test_start_deletes_sockets_directly_inside_the_folder_and_nothing_else(root: Path) -> None:
    folder = root / "device-plugins"
    (folder / "sub").mkdir(parents=True)
    for path in (folder / "old.sock", folder / "sub" / "kept.sock"):
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(path))
    (folder / "notes.txt").write_text("kept")
    with FakeKubelet(root):
        assert sorted(path.name for path in folder.iterdir()) == [
            "kubelet.sock",
            "notes.txt",
            "sub",
        ]
        assert (folder / "sub" / "kept.sock").exists()


def test_a_stopped_kubelet_leaves_sockets_where_nothing_answers(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = make_plugin()
    kubelet.stop()
    assert (kubelet.device_plugin_dir / "kubelet.sock").is_socket()
    assert kubelet.pod_resources_socket.is_socket()
    with pytest.raises(grpc.RpcError) as caught:
        plugin.register()
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def test_a_restart_deletes_the_plugins_socket_and_makes_a_new_kubelet_socket(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    plugin = make_plugin(first=devices("a"))
    before = (kubelet.device_plugin_dir / "kubelet.sock").stat()
    kubelet.restart()
    after = (kubelet.device_plugin_dir / "kubelet.sock").stat()
    assert not (plugin.folder / plugin.endpoint).exists()
    assert (before.st_ino, before.st_ctime_ns) != (after.st_ino, after.st_ctime_ns)


def test_the_stream_is_opened_once(kubelet: FakeKubelet, make_plugin: MakePlugin) -> None:
    plugin = make_plugin(first=devices("a"))
    plugin.register()
    kubelet.wait_for_resource(RESOURCE, capacity=1)
    plugin.end_stream()
    kubelet.wait_for_resource(RESOURCE, allocatable=0)
    assert plugin.streams == 1


def test_the_clean_up_of_an_old_stream_leaves_the_new_client_alone(
    kubelet: FakeKubelet, make_plugin: MakePlugin
) -> None:
    old, new = make_plugin(endpoint="a.sock"), make_plugin(endpoint="b.sock")
    old.register()
    new.first = devices("x")
    new.register()
    kubelet.wait_for_resource(RESOURCE, allocatable=1)
    old.end_stream()
    new.send(devices("x", "y"))
    kubelet.wait_for_resource(RESOURCE, allocatable=2)


def test_with_the_bug_of_1_34_the_clean_up_of_an_old_stream_disconnects_the_new_client(
    make_kubelet: MakeKubelet, make_plugin: MakePlugin
) -> None:
    kubelet = make_kubelet(stale_cleanup_bug=True)
    old = make_plugin(endpoint="a.sock", first=devices("x"))
    new = make_plugin(endpoint="b.sock", first=devices("x", "y"))
    old.register()
    kubelet.wait_for_resource(RESOURCE, allocatable=1)
    new.register()
    kubelet.wait_for_resource(RESOURCE, allocatable=2)
    old.end_stream()
    kubelet.wait_for_resource(RESOURCE, capacity=2, allocatable=0)
    new.register()
    wait_for(lambda: kubelet.resources()[RESOURCE].allocatable == 2)
