"""How fpgactl fails: a code for scripts, a line or two for people, never the token."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fpga_common.testing.waiting import free_port
from support.fpgactl_runs import Run
from support.rest_double import TOKEN, RestDouble


def test_an_unreachable_manager_ends_with_3(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("FPGACTL_URL", url)
    outcome = run("devices")
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err.startswith(f"fpgactl: manager at {url}: ")
    assert outcome.err.count("\n") == 1


def test_something_else_that_answers_is_no_manager(manager: RestDouble, run: Run) -> None:
    manager.answers.raw["GET", "/api/v1/devices"] = b"<html>hello</html>"
    outcome = run("devices")
    assert outcome.code == 3
    assert "did not answer like a manager" in outcome.err


def test_an_unknown_token_is_refused_without_being_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FPGACTL_TOKEN", "wrong-secret")
    outcome = run("devices")
    assert outcome.code == 1
    assert outcome.err == "fpgactl: the token is not known (unauthenticated)\n"


@pytest.mark.parametrize("secret", ["two words", "Zeile1\nZeile2", "schlüssel", "  "])
def test_what_cannot_be_a_token_is_refused_without_being_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setenv("FPGACTL_TOKEN", secret)
    outcome = run("devices")
    assert outcome.code == 2
    assert outcome.err.startswith("fpgactl: FPGACTL_TOKEN: not a token")
    assert secret.strip() == "" or secret.strip() not in outcome.err


def test_no_token_at_all_says_how_to_give_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FPGACTL_TOKEN")
    outcome = run("devices")
    assert outcome.code == 2
    assert "FPGACTL_TOKEN_FILE" in outcome.err


def test_a_token_file_on_the_command_line_wins(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    monkeypatch.setenv("FPGACTL_TOKEN", "wrong-secret")
    assert run("--token-file", str(path), "whoami").code == 0
    monkeypatch.setenv("FPGACTL_TOKEN_FILE", str(path))
    assert run("whoami").code == 1
    monkeypatch.delenv("FPGACTL_TOKEN")
    assert run("whoami").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--token-file", "/nonexistent", "devices"], "--token-file: /nonexistent: No such file"),
        (["--url", "ftp://host", "devices"], "--url: 'ftp://host': expected http://HOST"),
        (["--url", "http://host:port", "devices"], "--url: "),
        (["--ca-file", "/nonexistent", "devices"], "--ca-file: /nonexistent: "),
        (["load", "checksum", "sim-a"], "expected NODE/DEVICE"),
        (["load", "checksum", "Sim_A/x"], "not a node name"),
        (["load", "checksum", "sim-a/x", "--deadline", "soon"], "expected 90s, 15m, 2h or 1d"),
        (["load", "checksum", "sim-a/x", "--deadline", "8d"], "deadline_seconds"),
        (["load", "checksum", "sim-a/x", "--priority", "urgent"], "'urgent' is not one of"),
        (["loads", "list", "--limit", "0"], "--limit"),
        (["nonsense"], "No such command"),
    ],
)
def test_wrong_usage_or_configuration_ends_with_2(
    run: Run, arguments: list[str], words: str
) -> None:
    outcome = run(*arguments)
    assert outcome.code == 2
    assert words in outcome.err


def test_an_unknown_load_ends_with_1(run: Run) -> None:
    outcome = run("loads", "show", "nothing")
    assert (outcome.code, outcome.err) == (1, "fpgactl: there is no such thing (not_found)\n")


@pytest.mark.parametrize(
    "arguments", [["devices"], ["loads", "show", "x"], ["--url", "x", "nodes"]]
)
def test_the_real_process_never_shows_token_or_traceback(
    manager: RestDouble, arguments: list[str]
) -> None:
    environment = os.environ | {"FPGACTL_URL": manager.url, "FPGACTL_TOKEN": "wrong-secret"}
    run = subprocess.run(
        [sys.executable, "-m", "fpgactl.cli", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.returncode in (1, 2)
    assert "wrong-secret" not in run.stdout + run.stderr
    assert "Traceback" not in run.stderr
