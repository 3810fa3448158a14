"""Real processes for tests and demo: started in their own group, always ended by id."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

STOP_SECONDS: Final = 15.0


class ProcessEnded(Exception):
    """A process ended before it did what was waited for; the message ends with its log."""


class Process:
    """A running program whose output goes to ``log``.

    It gets this process's environment without the variables that begin with one of ``unset``, and
    with ``environment`` added.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        log: Path,
        environment: Mapping[str, str] | None = None,
        unset: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(unset or "\0")
        }
        with log.open("ab") as output:
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**inherited, **(environment or {})},
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The process id, which is its group's id too."""
        return self._popen.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._popen.poll() is None

    @property
    def returncode(self) -> int | None:
        """Its exit code, None while it runs."""
        return self._popen.poll()

    def require_running(self) -> None:
        """Raise ProcessEnded with the end of its log if it has ended."""
        if not self.running:
            raise ProcessEnded(f"{self.name} ended with {self.returncode}:\n{self.tail()}")

    def tail(self, lines: int = 30) -> str:
        """The last lines of its output."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def wait(self, timeout: float) -> int:
        """Wait for its end. Raises subprocess.TimeoutExpired."""
        return self._popen.wait(timeout)

    def terminate(self) -> None:
        """Send SIGTERM to the process alone."""
        if self.running:
            self._popen.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the whole group at once and wait for its end."""
        self._signal_group(signal.SIGKILL)
        self._popen.wait(STOP_SECONDS)

    def stop(self, timeout: float = STOP_SECONDS) -> int:
        """End it in peace, by force after ``timeout`` seconds; nothing of its group stays."""
        self.terminate()
        try:
            self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            print(f"{self.name} had to be killed:\n{self.tail()}", file=sys.stderr)  # noqa: T201
        self._signal_group(signal.SIGKILL)
        return self._popen.wait(STOP_SECONDS)

    def _signal_group(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._popen.pid, number)
        except ProcessLookupError:
            return

    def __enter__(self) -> "Process":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
