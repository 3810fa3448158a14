"""One plugin process a state folder: two would both program. Used by ``serve``."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from fpga_common.domain.errors import InvalidConfiguration, Temporary
from fpga_plugin.state.durable import private_folder

WAIT_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.05


class StateInUse(Temporary):
    """Another process has the state folder."""

    code = "state_in_use"


class StateUnusable(Temporary):
    """The state folder takes no new files: the disk is full, or its rights are wrong."""

    code = "state_unusable"


@contextmanager
def locked_state(state_dir: Path, *, seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the folder's lock; it ends with the process, however that ends.

    Raises StateInUse when another process still has it after ``seconds``, which a predecessor that
    is just ending may; InvalidConfiguration when the folder cannot be written.
    """
    with _open_lock(state_dir) as file:
        deadline = time.monotonic() + seconds
        while not _try_lock(file.fileno()):
            if time.monotonic() >= deadline:
                raise StateInUse(f"{state_dir} is used by another fpga-plugin process")
            time.sleep(_POLL_SECONDS)
        yield


def _open_lock(state_dir: Path) -> BinaryIO:
    try:
        return (private_folder(state_dir) / "lock").open("ab")
    except OSError as error:
        raise InvalidConfiguration("state_dir", f"{state_dir}: {error.strerror}") from error


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
