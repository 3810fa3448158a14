"""``fpga-plugin serve`` as a process: killed, started again, ended in peace."""

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from fpga_common.domain.names import DEFAULT_RESOURCE
from fpga_common.testing.kubelet import FakeKubelet
from fpga_common.testing.processes import Process
from fpga_common.testing.sim import SimulatedHost
from fpga_common.testing.waiting import free_port

START_SECONDS = 60.0


@pytest.fixture
def plugin_command(root: Path, kubelet: FakeKubelet, tmp_path: Path) -> list[str]:
    host = SimulatedHost(root / "host")
    host.add_card("pac-a10")
    host.add_card("n3000")
    config = tmp_path / "plugin.yaml"
    config.write_text(
        yaml.safe_dump(
            {
                "node": "node-a",
                "host_root": str(host.root),
                "state_dir": str(root / "state"),
                "kubelet": {
                    "device_plugin_dir": str(kubelet.device_plugin_dir),
                    "pod_resources_socket": str(kubelet.pod_resources_socket),
                },
                "agent": {"bind": f"127.0.0.1:{free_port()}"},
                "metrics": {"bind": ""},
            }
        )
    )
    program = str(Path(sys.executable).with_name("fpga-plugin"))
    return [program, "serve", "--config", str(config)]


def test_a_killed_plugin_comes_back_and_sigterm_takes_its_socket_away(
    kubelet: FakeKubelet, plugin_command: list[str], stack: ExitStack, tmp_path: Path
) -> None:
    kubelet.start()
    first = stack.enter_context(Process("first", plugin_command, log=tmp_path / "first.log"))
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2, timeout=START_SECONDS)
    given = kubelet.run_pod("one", limits={DEFAULT_RESOURCE: 1}).containers["main"].device_ids
    first.kill()
    kubelet.wait_for_resource(DEFAULT_RESOURCE, capacity=2, allocatable=0)

    second = stack.enter_context(Process("second", plugin_command, log=tmp_path / "second.log"))
    kubelet.wait_for_resource(DEFAULT_RESOURCE, allocatable=2, timeout=START_SECONDS)
    other = kubelet.run_pod("two", limits={DEFAULT_RESOURCE: 1}).containers["main"].device_ids
    assert set(given).isdisjoint(other)

    second.terminate()
    assert second.wait(30) == 0
    names = {path.name for path in kubelet.device_plugin_dir.iterdir()}
    assert names == {"kubelet.sock", "kubelet_internal_checkpoint"}
