"""The plugin process itself: start, kubelet, metrics, settings, a second process, doctor."""

import json
import subprocess
from collections.abc import Iterator

import pytest

from fpga_common.testing.kubelet import FakeKubelet
from fpga_common.testing.waiting import wait_for
from support.plugin_process import START_SECONDS, PluginProcess

RESOURCE = "fpga-platform.io/fpga"


@pytest.fixture
def kubelet(plugin: PluginProcess) -> Iterator[FakeKubelet]:
    with FakeKubelet(plugin.root / "k") as kubelet:
        plugin.settings["kubelet"] = {
            "device_plugin_dir": str(kubelet.device_plugin_dir),
            "pod_resources_socket": str(kubelet.pod_resources_socket),
        }
        yield kubelet


def _run(plugin: PluginProcess, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        plugin.command(*arguments),
        check=False,
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
    )


def test_a_pod_gets_a_card_and_the_card_shows_as_held(
    plugin: PluginProcess, kubelet: FakeKubelet
) -> None:
    card = plugin.host.add_card("n3000")
    plugin.start()
    kubelet.wait_for_resource(RESOURCE)
    wait_for(lambda: kubelet.resources()[RESOURCE].allocatable == 1)
    kubelet.run_pod("trainer", limits={RESOURCE: 1})
    held = f'fpga_device_held{{device="{card.region_id}"}} 1.0'
    wait_for(lambda: held in plugin.get("/metrics"))
    assert f'fpga_plugin_registered{{resource="{RESOURCE}"}} 1.0' in plugin.get("/metrics")


def test_the_sockets_are_gone_after_an_orderly_end(
    plugin: PluginProcess, kubelet: FakeKubelet
) -> None:
    process = plugin.start()
    kubelet.wait_for_resource(RESOURCE)
    assert process.stop() == 0
    assert [path.name for path in kubelet.device_plugin_dir.glob("fpga-platform*.sock")] == []


def test_health_and_metrics_are_served(plugin: PluginProcess) -> None:
    card = plugin.host.add_card("n3000")
    plugin.start()
    assert plugin.get("/healthz") == "ok\n"
    metrics = plugin.get("/metrics")
    assert f'fpga_device_healthy{{device="{card.region_id}"}} 1.0' in metrics
    assert f'fpga_card_temperature_celsius{{card="{card.id}"}}' in metrics


def test_an_agent_that_would_serve_strangers_is_a_configuration_error(
    plugin: PluginProcess,
) -> None:
    plugin.settings["agent"] = {"bind": "0.0.0.0:9444"}
    ended = _run(plugin, "serve")
    assert ended.returncode == 2
    assert "agent.client_ca_file" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_state_folder_that_cannot_be_made_is_a_configuration_error(
    plugin: PluginProcess,
) -> None:
    (plugin.root / "file").write_text("")
    plugin.settings["state_dir"] = str(plugin.root / "file" / "state")
    ended = _run(plugin, "serve")
    assert ended.returncode == 2
    assert "state_dir" in ended.stderr


def test_a_metrics_port_in_use_is_a_configuration_error(plugin: PluginProcess) -> None:
    plugin.start()
    other = PluginProcess(
        plugin.root / "other", {"metrics": {"bind": f"127.0.0.1:{plugin.metrics_port}"}}
    )
    ended = _run(other, "serve")
    assert ended.returncode == 2
    assert "metrics.bind" in ended.stderr


def test_a_second_process_on_the_same_state_does_not_serve(plugin: PluginProcess) -> None:
    plugin.start()
    ended = _run(plugin, "serve")
    assert ended.returncode == 1
    assert "used by another fpga-plugin process" in ended.stderr


def test_an_agent_waits_for_the_client_authority_and_serves_when_it_is_there(
    plugin: PluginProcess, kubelet: FakeKubelet
) -> None:
    from fpga_bitstream_manager.bootstrap.service import bootstrap

    trust = plugin.root / "trust"
    plugin.settings["agent"]["client_ca_file"] = str(trust / "ca.crt")
    process = plugin.launch()
    kubelet.wait_for_resource(RESOURCE)
    wait_for(lambda: "agent_waits" in plugin.events(), timeout=START_SECONDS)
    bootstrap(trust)
    wait_for(lambda: "agent_serving" in plugin.events())
    assert process.stop() == 0


def test_the_doctor_finds_a_node_well(plugin: PluginProcess, kubelet: FakeKubelet) -> None:
    plugin.host.add_card("n3000")
    plugin.start()
    kubelet.wait_for_resource(RESOURCE)
    ended = _run(plugin, "doctor")
    assert ended.returncode == 0, ended.stdout
    assert "all checks passed" in ended.stdout


def test_the_doctor_names_what_is_missing_without_the_daemon(plugin: PluginProcess) -> None:
    card = plugin.host.add_card("n3000")
    card.remove_device_node()
    plugin.settings["kubelet"] = {
        "device_plugin_dir": str(plugin.root / "none"),
        "pod_resources_socket": str(plugin.root / "none.sock"),
    }
    ended = _run(plugin, "doctor", "-o", "json")
    assert ended.returncode == 1
    document = json.loads(ended.stdout)
    failed = {check["check"] for check in document["checks"] if check["outcome"] == "failed"}
    assert failed == {
        f"card {card.id}",
        "state folder",
        "kubelet socket",
        f"registration {RESOURCE}",
        "pod resources",
        "agent port",
        "certificate",
    }
    assert not plugin.state_dir.exists()
