"""The sockets a FakeKubelet serves on: made, and left behind as a killed process leaves them."""

import contextlib
import stat
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from typing import Any, Final

import grpc

_WORKERS: Final = 16
_STOP_SECONDS: Final = 5.0


class SocketServer:
    """A gRPC server on one unix socket; ``add`` puts the service on it."""

    def __init__(self, path: Path, name: str, add: Callable[[grpc.Server], Any]) -> None:
        self._path = path
        self._pool = futures.ThreadPoolExecutor(_WORKERS, thread_name_prefix=name)
        self._server = grpc.server(self._pool)
        add(self._server)
        self._server.add_insecure_port(f"unix:{path}")

    def start(self) -> None:
        """Serve."""
        self._server.start()

    def stop(self) -> None:
        """End at once, and leave the socket on disk: nothing answers there any more."""
        left_behind = self._path.with_name(f".{self._path.name}.left")
        with contextlib.suppress(FileNotFoundError):
            left_behind.hardlink_to(self._path)
        self._server.stop(grace=None).wait(_STOP_SECONDS)
        self._pool.shutdown(wait=False, cancel_futures=True)
        with contextlib.suppress(FileNotFoundError):
            left_behind.rename(self._path)


def delete_sockets(folder: Path) -> None:
    """Delete sockets directly inside ``folder``; files and sub-folders stay."""
    for path in folder.iterdir():
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink(missing_ok=True)
