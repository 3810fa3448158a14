"""The kubelet's blocking dial: waits until an HTTP/2 server answers on a unix socket.

By hand, since gRPC's own way leaves a thread behind that breaks when the channel is closed soon.
"""

import contextlib
import socket
import time
from pathlib import Path
from typing import Final

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0"
"""What a client sends first (RFC 9113, 3.4), with empty SETTINGS; the server sends its own."""

_PAUSE_SECONDS: Final = 0.01


def dial(path: Path, timeout: float) -> bool:
    """Whether a server answers on ``path`` within ``timeout`` seconds."""
    deadline = time.monotonic() + timeout
    while (left := deadline - time.monotonic()) > 0:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(left)
            connection.connect(str(path))
            connection.sendall(PREFACE)
            if connection.recv(1):
                return True
        time.sleep(min(_PAUSE_SECONDS, left))
    return False
