"""One host's /sys and /dev, wherever they are mounted.

Backends and doctor read through it. Paths that go in and come out are the host's own, absolute and
without the root, so that nothing outside this module can mix the two up.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from fpga_common.domain.simulation import is_simulated
from fpga_plugin.host.failures import Missing, unreadable

ATTRIBUTE_BYTES: Final = 4096
"""The most that a sysfs text attribute holds: one page (Documentation/filesystems/sysfs.rst)."""

IRRELEVANT_FOLDERS: Final = frozenset({"power", "statistics", "perf", "dperf", "iperf"})
"""Folders below a device that the kernel's power management and counters fill."""

FILE_LIMIT: Final = 4096
_LINK_LIMIT: Final = 40


class HostRoot:
    """A host root: ``/`` on a node, any folder with a copied or simulated tree elsewhere."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root).rstrip("/")

    @property
    def real(self) -> bool:
        """Whether this is the running machine's own tree: complete, with real device nodes."""
        return self._root == ""

    @property
    def complete(self) -> bool:
        """Whether what every card has must be there; copied trees lack files, others do not."""
        return self.real or is_simulated(Path(self._root))

    def text(self, path: str) -> str:
        """A text attribute, without NUL padding and surrounding white space.

        Raises:
            Missing, Busy, Broken: after what the driver answered. A last component that is a link
            is not followed: attributes are files.
        """
        return self.content(path, ATTRIBUTE_BYTES).decode("utf-8", "replace").strip("\0 \t\r\n")

    def content(self, path: str, size: int) -> bytes:
        """The first ``size`` bytes of a file. Raises as ``text``."""
        try:
            descriptor = os.open(self._root + path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                return os.read(descriptor, size)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise unreadable(path, error) from error

    def names(self, path: str) -> tuple[str, ...]:
        """The sorted names in a folder; none where it is not there or not a folder."""
        try:
            with os.scandir(self._root + path) as entries:
                return tuple(sorted(entry.name for entry in entries))
        except OSError:
            return ()

    def files_below(self, folder: str, *, depth: int) -> tuple[str, ...]:
        """Every file and link below a folder, at most ``depth`` folders deep, sorted.

        Links are not followed and ``IRRELEVANT_FOLDERS`` not entered.
        """
        found: list[str] = []
        pending = [(folder, depth)]
        while pending and len(found) < FILE_LIMIT:
            parent, left = pending.pop()
            folders, files = self._entries(parent)
            found.extend(f"{parent}/{name}" for name in files)
            if left > 0:
                pending.extend((f"{parent}/{name}", left - 1) for name in folders)
        return tuple(sorted(found))

    def _entries(self, folder: str) -> tuple[list[str], list[str]]:
        folders: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(self._root + folder) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        files.append(entry.name)
                    elif entry.name not in IRRELEVANT_FOLDERS:
                        folders.append(entry.name)
        except OSError:
            return [], []
        return folders, files

    def is_folder(self, path: str) -> bool:
        """Whether a folder (not a link to one) is there."""
        try:
            return stat.S_ISDIR(os.lstat(self._root + path).st_mode)
        except OSError:
            return False

    def exists(self, path: str) -> bool:
        """Whether anything, even a dangling link, is there."""
        return os.path.lexists(self._root + path)

    def link(self, path: str) -> str | None:
        """The text of a link, None where there is none."""
        try:
            return os.readlink(self._root + path)  # noqa: PTH115 - half of discovery's time with Path
        except OSError:
            return None

    def device_number(self, path: str) -> tuple[int, int] | None:
        """Major and minor of a character device, None where the file is something else.

        Raises:
            Missing: nothing is there. Broken: it cannot be examined.
        """
        try:
            status = os.lstat(self._root + path)
        except OSError as error:
            raise unreadable(path, error) from error
        if not stat.S_ISCHR(status.st_mode):
            return None
        return os.major(status.st_rdev), os.minor(status.st_rdev)

    def resolve(self, path: str) -> str:
        """Follow every link of ``path`` without ever leaving the host root.

        An absolute target starts at the host root again, and ``..`` stops there. The end need not
        exist. Raises Missing for links in a circle.
        """
        pending = _components(path)
        done: list[str] = []
        links = 0
        while pending:
            name = pending.pop()
            if name == "..":
                del done[-1:]
                continue
            target = self.link("/" + "/".join([*done, name]))
            if target is None:
                done.append(name)
                continue
            links += 1
            if links > _LINK_LIMIT:
                raise Missing(path, 2)
            if target.startswith("/"):
                done.clear()
            pending.extend(_components(target))
        return "/" + "/".join(done)

    def identity(self, paths: Iterable[str]) -> tuple[str, ...]:
        """One text a path that changes when the path goes, comes back or becomes another file."""
        return tuple(f"{path}#{self._inode(path)}" for path in paths)

    def _inode(self, path: str) -> int:
        try:
            return os.lstat(self._root + path).st_ino
        except OSError:
            return 0


def _components(path: str) -> list[str]:
    return [name for name in reversed(path.split("/")) if name not in ("", ".")]
