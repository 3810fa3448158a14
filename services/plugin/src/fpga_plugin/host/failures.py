"""Why something below the host root could not be read."""

import errno
import os
from typing import ClassVar, Final

from fpga_common.domain.errors import FpgaError, Permanent, Temporary


class Unreadable(FpgaError):
    """Base of all: ``path`` is the host's own, ``errno_name`` like ``EIO``."""

    code: ClassVar[str] = "unreadable"

    def __init__(self, path: str, number: int) -> None:
        self.path = path
        self.errno_name = errno.errorcode.get(number, str(number))
        super().__init__(f"{path}: {os.strerror(number)} ({self.errno_name})")


class Missing(Unreadable, Permanent):
    """There is no such file or folder."""

    code = "missing"


class Busy(Unreadable, Temporary):
    """The driver cannot tell now: the port is disabled or in reset (sysfs-platform-dfl-port)."""

    code = "busy"


class Broken(Unreadable, Permanent):
    """The driver or the hardware answered with an error."""

    code = "broken"


class Garbled(Unreadable, Permanent):
    """What was read makes no sense."""

    code = "garbled"

    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, errno.EINVAL)
        self.message = f"{path}: {text[:40]!r} makes no sense"
        self.args = (self.message,)


_KINDS: Final[dict[int, type[Unreadable]]] = {
    errno.ENOENT: Missing,
    errno.ENOTDIR: Missing,
    errno.ENODEV: Missing,
    errno.EBUSY: Busy,
    errno.EAGAIN: Busy,
    errno.ETIMEDOUT: Busy,
}


def unreadable(path: str, error: OSError) -> Unreadable:
    """The typed failure for an OSError."""
    number = error.errno or errno.EIO
    return _KINDS.get(number, Broken)(path, number)
