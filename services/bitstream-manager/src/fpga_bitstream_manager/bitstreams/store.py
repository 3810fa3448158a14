"""Where the bytes of bitstreams lie. Called by ``bitstreams.upload``; knows no names, no ledger."""

import errno
import hashlib
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol
from urllib.parse import unquote, urlsplit

from fpga_bitstream_manager.failures import NotFound, StorageFull, TooLarge, Unavailable
from fpga_common.domain.errors import InvalidConfiguration
from fpga_common.domain.ids import require_digest

CHUNK_BYTES: Final = 256 * 1024
LEFTOVER_SECONDS: Final = 86400.0
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class BitstreamTooLarge(TooLarge):
    """The file is larger than ``bitstreams.max_bytes`` allows."""

    code = "bitstream_too_large"


class BlobMissing(NotFound):
    """The bitstream is known, but its bytes are gone from the store. Upload the file again."""

    code = "blob_missing"


class StoreUnavailable(Unavailable):
    """The bitstream store cannot be written or read. The manager's log has the reason."""

    code = "store_unavailable"


@dataclass(frozen=True, slots=True)
class StagedBlob:
    """Bytes that were received but are not in the store yet. ``digest`` is of all of them."""

    path: Path
    digest: str
    size_bytes: int

    def open(self) -> BinaryIO:
        """The bytes, from the start."""
        return self.path.open("rb")


class BlobStore(Protocol):
    """Bytes by digest; what is in the store never changes."""

    def stage(self, content: BinaryIO, *, max_bytes: int) -> StagedBlob:
        """Receive ``content``. Raises BitstreamTooLarge, StorageFull, StoreUnavailable."""

    def keep(self, staged: StagedBlob) -> bool:
        """Move staged bytes into the store, durably; False when they were there already."""

    def discard(self, staged: StagedBlob) -> None:
        """Forget staged bytes; nothing happens to kept ones."""

    def open(self, digest: str) -> BinaryIO:
        """The bytes of a kept blob. Raises BlobMissing."""

    def delete(self, digest: str) -> None:
        """Remove a blob; an absent one is no error."""

    def clear_leftovers(self) -> int:
        """Remove what was staged and forgotten long ago; returns how many."""

    def check(self) -> None:
        """Raise StoreUnavailable unless the store can be written."""


class FolderStore:
    """A folder: ``sha256/ab/abcdef…``, and ``incoming`` for what is being received."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._incoming = root / "incoming"

    def stage(self, content: BinaryIO, *, max_bytes: int) -> StagedBlob:
        """Write to a temporary file while hashing, then flush it to the disk."""
        with _storage_errors():
            self._incoming.mkdir(parents=True, exist_ok=True)
            path = self._incoming / f"{os.getpid()}-{secrets.token_hex(8)}"
            try:
                digest, size = _receive(content, path, max_bytes)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
        return StagedBlob(path, digest, size)

    def keep(self, staged: StagedBlob) -> bool:
        """Rename into place and flush the folder."""
        target = self._path(staged.digest)
        with _storage_errors():
            if target.exists():
                staged.path.unlink()
                return False
            target.parent.mkdir(parents=True, exist_ok=True)
            staged.path.replace(target)
            _flush_folder(target.parent)
        return True

    def discard(self, staged: StagedBlob) -> None:
        """Remove the temporary file."""
        staged.path.unlink(missing_ok=True)

    def open(self, digest: str) -> BinaryIO:
        """Open the file. Raises BlobMissing."""
        try:
            return self._path(digest).open("rb")
        except FileNotFoundError as error:
            raise BlobMissing(f"the bytes of {digest} are not in the store") from error

    def delete(self, digest: str) -> None:
        """Remove the file."""
        self._path(digest).unlink(missing_ok=True)

    def clear_leftovers(self, *, older_than_seconds: float = LEFTOVER_SECONDS) -> int:
        """Remove what uploads of killed processes left; returns how many files."""
        before = time.time() - older_than_seconds
        old = [path for path in self._incoming.glob("*") if path.stat().st_mtime < before]
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)

    def check(self) -> None:
        """Make the folders and see whether they can be written."""
        with _storage_errors():
            self._incoming.mkdir(parents=True, exist_ok=True)
            if not os.access(self._incoming, os.W_OK):
                raise StoreUnavailable(f"{self._incoming} cannot be written")

    def _path(self, digest: str) -> Path:
        algorithm, _, digits = require_digest(digest).partition(":")
        return self._root / algorithm / digits[:2] / digits


def open_store(url: str) -> BlobStore:
    """The store behind a URL. Raises InvalidConfiguration."""
    parts = urlsplit(url)
    if parts.scheme != "file" or not parts.path.startswith("/"):
        raise InvalidConfiguration("store.url", "expected file:///folder")
    return FolderStore(Path(unquote(parts.path)))


def _receive(content: BinaryIO, path: Path, max_bytes: int) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with path.open("xb") as file:
        while chunk := content.read(CHUNK_BYTES):
            size += len(chunk)
            if size > max_bytes:
                raise BitstreamTooLarge(
                    "the file is larger than allowed",
                    expected=f"at most {max_bytes} bytes",
                    actual=f"more than {max_bytes} bytes",
                )
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return f"sha256:{digest.hexdigest()}", size


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some file systems cannot; the rename is atomic nevertheless
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _storage_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StorageFull("the bitstream store has no room left; nothing was stored") from error
        raise StoreUnavailable(f"bitstream store: {error.strerror or error}") from error
