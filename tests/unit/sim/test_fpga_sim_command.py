"""The ``fpga-sim`` command, run as users run it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fpga_common.testing.sim import Fault
from fpga_common.testing.sim.cli import main


def test_writing_again_adds_only_what_is_absent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(tmp_path)
    assert main(["write", "--root", root, "--card", "pac-a10", "--card", "n3000"]) == 0
    assert main(["write", "--root", root, "--card", "pac-a10", "n3000", "n3000"]) == 0
    capsys.readouterr()
    assert main(["list", "--root", root, "-o", "json"]) == 0
    cards = json.loads(capsys.readouterr().out)["cards"]
    assert [card["profile"] for card in cards] == ["pac-a10", "n3000", "n3000"]
    assert cards[0]["device_node"] == "/dev/dfl-port.0"


@pytest.mark.parametrize("fault", list(Fault))
def test_every_fault_can_be_made_and_healed(
    tmp_path: Path, fault: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(tmp_path)
    main(["write", "--root", root, "--card", "n6000"])
    before = capsys.readouterr().out
    card = before.split()[0]
    assert main(["break", "--root", root, card, fault.value]) == 0
    assert main(["heal", "--root", root, card]) == 0
    assert main(["list", "--root", root]) == 0
    assert capsys.readouterr().out == before


def test_a_card_can_be_unplugged_and_put_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(tmp_path)
    main(["write", "--root", root, "--card", "n3000"])
    card = capsys.readouterr().out.split()[0]
    main(["unplug", "--root", root, card])
    main(["list", "--root", root])
    assert "unplugged" in capsys.readouterr().out
    main(["replug", "--root", root, card])
    main(["list", "--root", root])
    assert "unplugged" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["write", "--card", "vu9p"], "no card profile 'vu9p' (expected: pac-a10, n3000"),
        (["list"], "holds no simulated host"),
        (["heal", "0000:3b:00.0"], "holds no simulated host"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    command, *rest = arguments
    run = subprocess.run(
        [sys.executable, "-m", "fpga_common.testing.sim.cli", command, "--root", tmp_path, *rest],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.returncode == 2
    assert words in run.stderr
    assert run.stderr.count("\n") == 1


def test_an_unknown_card_is_named_with_the_known_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(tmp_path)
    main(["write", "--root", root, "--card", "n3000"])
    assert main(["break", "--root", root, "0000:ff:00.0", "overheat"]) == 2
    assert "no card 0000:ff:00.0 (expected: 0000:3b:00.0)" in capsys.readouterr().err
