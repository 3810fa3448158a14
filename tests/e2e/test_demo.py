"""``make demo`` as a newcomer runs it."""

import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from fpga_common.testing.waiting import wait_for

REPOSITORY = Path(__file__).resolve().parents[2]


def start_demo(folder: Path, marker: str, *arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {
        "PYTHONPATH": str(REPOSITORY / "tools"),
        "TMPDIR": str(folder),
        "DEMO_MARKER": marker,
        "PYTHONUNBUFFERED": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "demo", "--programming-seconds", "0.5", *arguments],
        cwd=REPOSITORY,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def processes_with(marker: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"DEMO_MARKER={marker}".encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().decode().replace("\0", " "))
        except OSError:
            continue
    return [command for command in found if command]


def require_nothing_left(folder: Path, marker: str) -> None:
    wait_for(lambda: not processes_with(marker), timeout=10, what="every process ended")
    assert list(folder.iterdir()) == []


def short_folder(tmp_path_factory_name: str) -> Path:
    folder = Path("/tmp") / f"fd{tmp_path_factory_name[:8]}"  # noqa: S108
    folder.mkdir()
    return folder


def test_the_demo_tells_its_story_ends_well_and_leaves_nothing() -> None:
    marker = uuid.uuid4().hex
    folder = short_folder(marker)
    try:
        demo = start_demo(folder, marker, "--once")
        output, _ = demo.communicate(timeout=110)
        assert demo.returncode == 0, output
        result = json.loads(output.splitlines()[-1])
        assert result["load"]["state"] == "succeeded"
        assert result["pod"]["devices"] == [result["pod"]["env"]["FPGA_DEVICE_NODES"]]
        assert result["fault"]["detected_seconds"] > 0
        assert result["recovered_seconds"] > 0
        assert result["console"].startswith("http://127.0.0.1:")
        require_nothing_left(folder, marker)
    finally:
        folder.rmdir()


def read_until(demo: subprocess.Popen[str], text: str) -> str:
    assert demo.stdout is not None
    lines: list[str] = []
    for line in demo.stdout:
        lines.append(line)
        if text in line:
            break
    return "".join(lines)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("moment", ["starting API", "Upload a bitstream"])
def test_a_demo_that_is_interrupted_leaves_nothing(moment: str, number: signal.Signals) -> None:
    marker = uuid.uuid4().hex
    folder = short_folder(marker)
    demo = start_demo(folder, marker)
    try:
        read_until(demo, moment)
        demo.send_signal(number)
        rest, _ = demo.communicate(timeout=60)
        assert demo.returncode == 130, rest
        assert "Traceback" not in rest
        require_nothing_left(folder, marker)
    finally:
        if demo.poll() is None:
            demo.kill()
            demo.wait(10)
        folder.rmdir()


def test_the_demo_stays_up_until_ctrl_c_and_then_leaves_nothing() -> None:
    marker = uuid.uuid4().hex
    folder = short_folder(marker)
    demo = start_demo(folder, marker)
    try:
        told = read_until(demo, "Ctrl-C ends everything")
        another = next(line for line in told.splitlines() if "to load" in line).split()[-1]
        assert Path(another).is_file()
        demo.send_signal(signal.SIGINT)
        rest, _ = demo.communicate(timeout=60)
        assert demo.returncode == 0, told + rest
        require_nothing_left(folder, marker)
    finally:
        if demo.poll() is None:
            demo.kill()
            demo.wait(10)
        folder.rmdir()
