"""Every command and example of the README works as it stands there."""

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
import yaml

from fpga_common.testing.platform import LocalPlatform
from fpga_common.testing.sim import make_gbs

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
AFU_ID = "5dc0a4bd3c0b4a6c8d6f1c0b2f3e4d5c"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def commands() -> list[list[str]]:
    text = "\n".join(blocks("sh")).replace("\\\n", " ")
    return [shlex.split(line) for line in text.splitlines() if line.strip()]


def commands_of(program: str) -> list[list[str]]:
    return [command for command in commands() if command[0] == program]


def test_every_command_of_the_readme_is_of_a_program_that_these_tests_know() -> None:
    assert {command[0] for command in commands()} == {"make", "helm", "fpgactl", "curl"}


@pytest.mark.parametrize("command", commands_of("make"), ids=" ".join)
def test_make_knows_every_target_of_the_readme(command: list[str]) -> None:
    shown = subprocess.run(
        ["make", "help"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert f"make {command[1]} " in shown.stdout
    subprocess.run(["make", "-n", command[1]], cwd=REPOSITORY, capture_output=True, check=True)


@pytest.fixture(scope="module")
def example_folder(tmp_path_factory: pytest.TempPathFactory, platform: LocalPlatform) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    card = platform.nodes["sim-a"].host.cards[0]
    (folder / "checksum.gbs").write_bytes(make_gbs(card.interface_id, AFU_ID, name="checksum"))
    return folder


def run_fpgactl(command: list[str], folder: Path, platform: LocalPlatform) -> str:
    environment = os.environ | {
        "FPGACTL_URL": platform.api_url,
        "FPGACTL_TOKEN_FILE": str(platform.admin_token_file),
    }
    done = subprocess.run(
        [str(Path(sys.executable).parent / command[0]), *command[1:]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_terminal_example_loads_the_bitstream(
    platform: LocalPlatform, example_folder: Path
) -> None:
    outputs = [run_fpgactl(command, example_folder, platform) for command in commands_of("fpgactl")]
    assert "succeeded" in outputs[-1]
    assert platform.nodes["sim-a"].host.cards[0].afu_id == AFU_ID


def test_the_rest_example_is_accepted(platform: LocalPlatform, example_folder: Path) -> None:
    with platform.client() as client, (example_folder / "checksum.gbs").open("rb") as content:
        client.upload_bitstream(content, name="checksum")
    (command,) = commands_of("curl")
    values = {"$TOKEN": platform.admin_token, "$URL": platform.api_url}
    words = [re.sub(r"\$[A-Z]+", lambda name: values[name[0]], word) for word in command]
    headers = {
        name: value
        for flag, header in itertools.pairwise(words)
        if flag == "-H"
        for name, value in [header.split(": ", 1)]
    }
    body = words[words.index("-d") + 1]
    answer = httpx2.post(words[-1], content=body, headers=headers)
    assert answer.status_code == 202, answer.text
    assert answer.json()["target"] == json.loads(body)["target"]


def test_the_pod_example_gets_a_card(platform: LocalPlatform) -> None:
    (text,) = blocks("yaml")
    pod = yaml.safe_load(text)
    (container,) = pod["spec"]["containers"]
    name = pod["metadata"]["name"]
    kubelet = platform.nodes["sim-b"].kubelet
    running = kubelet.run_pod(name, limits=container["resources"]["limits"])
    try:
        (seen,) = running.containers.values()
        promised = set(re.findall(r"`(FPGA_[A-Z_]+)`", README))
        assert set(seen.envs) == promised
        assert len(seen.devices) == 1
    finally:
        kubelet.delete_pod(name)
