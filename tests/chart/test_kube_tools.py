"""Where helm and kubectl come from."""

import os
import re
import subprocess
from pathlib import Path

import pytest

import kube_tools
from kube_tools import ToolUnavailable


def test_a_program_on_the_path_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "helm"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert kube_tools.find("helm") == program


@pytest.mark.parametrize("program", kube_tools.PROGRAMS)
def test_the_pinned_package_stands_in(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    try:
        found = kube_tools.find(program)
    except ToolUnavailable as error:
        pytest.skip(str(error))
    assert os.access(found, os.X_OK)
    assert kube_tools.CACHE in found.parents


def test_another_machine_is_told_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(ToolUnavailable, match="install helm and run again"):
        kube_tools.find("helm")


def test_no_other_program_is_looked_for() -> None:
    with pytest.raises(ToolUnavailable, match="none of helm, kubectl"):
        kube_tools.find("docker")


def test_the_package_is_pinned_by_version_and_hash() -> None:
    lock = kube_tools.LOCK.read_text(encoding="utf-8")
    assert re.search(r"==\d+\.\d+\.\d+ \\\n    --hash=sha256:[0-9a-f]{64}$", lock.rstrip())


def test_the_script_passes_arguments_and_exit_code_on() -> None:
    script = kube_tools.ROOT / "tools" / "helm.sh"
    good = subprocess.run([script, "version"], capture_output=True, timeout=60, check=False)
    bad = subprocess.run([script, "no-such-command"], capture_output=True, timeout=60, check=False)
    assert good.returncode == 0
    assert bad.returncode != 0
