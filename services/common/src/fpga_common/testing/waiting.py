"""Waiting for conditions instead of sleeping."""

import socket
import threading
import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


class Cancelled(Exception):
    """What was waited for is no longer wanted."""


def wait_for(
    condition: Callable[[], Value | None],
    *,
    timeout: float = 10.0,
    interval: float = 0.01,
    what: str = "",
    cancelled: threading.Event | None = None,
) -> Value:
    """Call ``condition`` until it returns something true, and return that.

    Raises:
        TimeoutError: nothing true within ``timeout`` seconds; names ``what`` was waited for and
            the last value.
        Cancelled: ``cancelled`` was set before anything true came.
    """
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if cancelled is not None and cancelled.is_set():
            raise Cancelled(what)
        if time.monotonic() >= deadline:
            name = what or getattr(condition, "__name__", "condition")
            raise TimeoutError(f"{name} did not hold within {timeout} s; last value: {value!r}")
        time.sleep(interval)


def free_port(host: str = "127.0.0.1") -> int:
    """A TCP port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def listening(port: int, host: str = "127.0.0.1") -> bool:
    """Whether something accepts connections there."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((host, port)) == 0
