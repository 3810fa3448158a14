"""Changes to a simulated host's files: each visible at once or not at all.

A reader may run at any moment, so attributes are replaced by renames from a folder beside the tree.
"""

import errno
import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fpga_common.domain.simulation import CONTROL_FOLDER
from fpga_common.testing.waiting import wait_for

LOCK_SECONDS = 10.0


def spare_path(root: Path) -> Path:
    """An unused path on the tree's file system that no reader looks at."""
    folder = root / CONTROL_FOLDER / "spare"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / secrets.token_hex(8)


def replace_file(root: Path, path: Path, content: bytes) -> None:
    """Put a file with ``content`` at ``path`` in place of whatever is there."""
    spare = spare_path(root)
    spare.write_bytes(content)
    _put(root, spare, path)


def replace_link(root: Path, path: Path, target: str) -> None:
    """Put a symbolic link at ``path`` in place of whatever is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    spare = spare_path(root)
    spare.symlink_to(target)
    _put(root, spare, path)


def make_unreadable(root: Path, path: Path) -> None:
    """Replace a file by a link to its folder: reading it fails, for root too.

    The failure is EISDIR, or ELOOP for readers that follow no links. A link replaces the file in
    one step, which a folder cannot.
    """
    replace_link(root, path, ".")


def make_hanging(root: Path, path: Path) -> None:
    """Replace a file by a pipe that nobody writes to: opening it blocks."""
    spare = spare_path(root)
    os.mkfifo(spare)
    _put(root, spare, path)


def is_hidden(path: Path) -> bool:
    """Whether a fault keeps readers from the file's content."""
    return path.is_symlink() or path.is_fifo()


def _put(root: Path, spare: Path, path: Path) -> None:
    """Rename into place; readers that hang on a pipe there go on and read nothing."""
    aside = spare_path(root) if path.is_fifo() else None
    if aside:
        os.link(path, aside)
    spare.replace(path)
    if aside:
        os.close(os.open(aside, os.O_RDWR | os.O_NONBLOCK))
        aside.unlink()


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Keep other processes from changing the same host. Raises TimeoutError after 10 s."""
    with (root / CONTROL_FOLDER / "lock").open("w") as lock:
        wait_for(lambda: _try_lock(lock.fileno()), timeout=LOCK_SECONDS, what="the host's lock")
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True
