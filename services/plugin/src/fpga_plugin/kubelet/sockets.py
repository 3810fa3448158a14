"""Telling one socket on disk from another: how restarts of the kubelet are noticed.

Two stats 20 times a second cost less than a thousandth of a core, and unlike a watch they cannot
miss a socket that was replaced between two events.
"""

import contextlib
import stat
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SocketIdentity:
    """A socket file; the change time tells a new one that got the old inode's number."""

    device: int
    inode: int
    changed_ns: int


def identify(path: Path) -> SocketIdentity | None:
    """The socket at ``path``; None where there is none, or anything else."""
    try:
        status = path.lstat()
    except OSError:
        return None
    if not stat.S_ISSOCK(status.st_mode):
        return None
    return SocketIdentity(status.st_dev, status.st_ino, status.st_ctime_ns)


def remove_socket(path: Path) -> None:
    """Remove a socket that was left behind; anything else at ``path`` is left alone."""
    if identify(path) is not None:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
