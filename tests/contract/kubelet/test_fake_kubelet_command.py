"""``python -m fpga_common.testing.kubelet``: one kubelet as a process."""

import sys
from pathlib import Path

from fpga_common.testing.processes import Process
from fpga_common.testing.waiting import wait_for


def test_the_command_serves_until_sigterm_and_takes_its_sockets_away(
    root: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "fpga_common.testing.kubelet", "--root", str(root)]
    with Process("kubelet", command, log=tmp_path / "log") as process:
        wait_for(lambda: "pod_resources_socket=" in process.tail(), what="the command's output")
        assert (root / "device-plugins" / "kubelet.sock").is_socket()
        process.terminate()
        assert process.wait(10) == 0
    assert not (root / "device-plugins" / "kubelet.sock").exists()
    assert not (root / "pod-resources" / "kubelet.sock").exists()
