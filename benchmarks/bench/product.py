"""The node plugin as its image has it: its own lock and nothing else in the environment."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[2]
ENVIRONMENT: Final = REPOSITORY / ".cache" / "plugin-venv"


def installed_plugin() -> str:
    """Install the plugin into an environment of its own, and return its command.

    What a developer's environment has besides would count as the plugin's memory.
    """
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    _uv("venv", "--python", sys.executable, str(ENVIRONMENT))
    python = str(ENVIRONMENT / "bin" / "python")
    lock = str(REPOSITORY / "requirements" / "plugin.txt")
    build = str(REPOSITORY / "requirements" / "build.txt")
    _uv("pip", "install", "--python", python, "--compile-bytecode", "--require-hashes", "-r", lock)
    _uv(
        *("pip", "install", "--python", python, "--compile-bytecode", "--no-deps"),
        *("--build-constraints", build),
        *(str(REPOSITORY / "services" / name) for name in ("common", "plugin")),
    )
    return str(ENVIRONMENT / "bin" / "fpga-plugin")


def _uv(*arguments: str) -> None:
    program = Path(sys.executable).parent / "uv"
    subprocess.run([str(program), "--quiet", *arguments], check=True, timeout=300)
