"""The console as a process, from its console script, as it is installed."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from fpga_common.testing.processes import Process
from fpga_common.testing.waiting import free_port, listening, wait_for

SECRET_KEY: Final = "k" * 64


def console_command(config: Path) -> list[str]:
    """How the console is started beside this interpreter."""
    return [str(Path(sys.executable).parent / "fpga-web"), "--config", str(config), "serve"]


@contextmanager
def start_console(folder: Path, manager_url: str, **settings: Any) -> Iterator[tuple[Process, str]]:
    """A console in front of a manager, on a free port; ended by its id."""
    port = free_port()
    key = folder / "secret-key"
    key.write_text(SECRET_KEY)
    config = folder / "web.yaml"
    document = {
        "bind": f"127.0.0.1:{port}",
        "manager": {"url": manager_url},
        "secret_key_file": str(key),
    }
    config.write_text(json.dumps(document | settings))
    with Process("fpga-web", console_command(config), log=folder / "web.log") as process:
        wait_for(lambda: _up(process, port), timeout=30, what="the console answers")
        yield process, f"http://127.0.0.1:{port}"


def _up(process: Process, port: int) -> bool:
    process.require_running()
    return listening(port)
