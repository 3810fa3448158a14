"""How the demo speaks: short lines for a person, one JSON line for a program."""

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

_COLOURS = {"title": "1", "ok": "32", "bad": "31", "dim": "2"}


class Narrator:
    """Prints the story; colours only on a terminal."""

    def __init__(self) -> None:
        self._colours = sys.stdout.isatty()
        self._chapter = 0

    def chapter(self, title: str) -> None:
        """Begin a part of the story."""
        self._chapter += 1
        self._print(f"\n{self._chapter}. {title}", "title")

    def say(self, text: str) -> None:
        """One fact."""
        self._print(f"   {text}")

    def good(self, text: str) -> None:
        """A fact that went well."""
        self._print(f"   ✓ {text}", "ok")

    def bad(self, text: str) -> None:
        """A fault, as intended by the story."""
        self._print(f"   ✗ {text}", "bad")

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Show a command and run it with this terminal. Raises CalledProcessError."""
        shown = shlex.join([command[0].rsplit("/", 1)[-1], *command[1:]])
        self._print(f"   $ {shown}", "dim")
        sys.stdout.flush()
        subprocess.run(command, env=dict(environment), check=True, timeout=300)

    def result(self, document: Mapping[str, Any]) -> None:
        """The demo's last line."""
        print(json.dumps(document), flush=True)

    def _print(self, text: str, style: str = "") -> None:
        code = _COLOURS.get(style, "")
        print(f"\033[{code}m{text}\033[0m" if self._colours and code else text, flush=True)
