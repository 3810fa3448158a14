"""Gets a bitstream from the manager into a small cache in the state folder.

Called by ``agent.programming``. A file of the cache has the size that was asked for and had the
right digest when it was stored; ``agent.checking`` looks at both again before anything is written.
"""

import hashlib
import os
import time
from collections.abc import Callable
from http.client import HTTPResponse
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, Final

from fpga_common.domain.errors import FpgaError
from fpga_common.domain.ids import InvalidId, require_digest
from fpga_common.domain.operation import FailureCode
from fpga_plugin.agent.events import WantedBitstream
from fpga_plugin.agent.operation import Operation
from fpga_plugin.failures import OperationFailed, operation_failed
from fpga_plugin.manager_link import ManagerLink
from fpga_plugin.state.unreadable import folder_in

FETCH_SECONDS: Final = 600.0
READ_SECONDS: Final = 15.0
MAX_BYTES: Final = 1 << 30
CACHED_FILES: Final = 4

_CHUNK_BYTES: Final = 1 << 18


class BitstreamCache:
    """Bitstreams by digest, in ``<state_dir>/bitstreams``; the least recently used go first."""

    def __init__(
        self, state_dir: Path, manager: ManagerLink, *, cached_files: int = CACHED_FILES
    ) -> None:
        self._folder = folder_in(state_dir, "bitstreams")
        self._manager = manager
        self._cached_files = cached_files
        for left_over in self._folder.glob("*.part"):
            left_over.unlink(missing_ok=True)

    def fetch(self, operation: Operation) -> BinaryIO:
        """Open the operation's bitstream, from the cache or the manager.

        Raises OperationFailed: fetch_failed, digest_mismatch, format_invalid for a senseless
        digest or size, and whatever ends the operation meanwhile.
        """
        wanted = _require_sensible(operation.request.bitstream)
        path = self._folder / wanted.digest.replace(":", "-")
        try:
            if not _has_size(path, wanted.size_bytes):
                self._download(operation, wanted, path)
            os.utime(path)
            file = path.open("rb")
            self._evict(path)
        except OSError as error:
            raise _not_stored(error) from error
        return file

    def drop(self, digest: str) -> None:
        """Forget a file whose content turned out to be wrong."""
        (self._folder / digest.replace(":", "-")).unlink(missing_ok=True)

    def _download(self, operation: Operation, wanted: WantedBitstream, path: Path) -> None:
        part = path.with_name(f"{operation.request.operation_id}.part")
        try:
            self._receive(operation, wanted, part)
            part.replace(path)
        except FpgaError as error:
            raise _fetch_failure(error) from error
        finally:
            part.unlink(missing_ok=True)

    def _receive(self, operation: Operation, wanted: WantedBitstream, part: Path) -> None:
        path = f"/internal/v1/bitstreams/{wanted.digest}"
        with (
            part.open("xb") as file,
            self._manager.request("GET", path, timeout=READ_SECONDS) as response,
        ):
            _require_size(response.length, wanted.size_bytes)
            digest = _copy(response, file, wanted.size_bytes, _watch(operation))
        if digest != wanted.digest:
            raise operation_failed(
                FailureCode.DIGEST_MISMATCH,
                "the manager sent something else",
                expected=wanted.digest,
                actual=digest,
            )

    def _evict(self, used: Path) -> None:
        files = sorted(self._folder.glob("sha256-*"), key=_last_used)
        for path in files[: max(0, len(files) - self._cached_files)]:
            if path != used:
                path.unlink(missing_ok=True)


def _watch(operation: Operation) -> Callable[[float], None]:
    deadline = time.monotonic() + FETCH_SECONDS

    def received(fraction: float) -> None:
        operation.require_running()
        if time.monotonic() > deadline:
            raise operation_failed(
                FailureCode.FETCH_FAILED, f"not received within {FETCH_SECONDS:.0f} s"
            )
        operation.progress(fraction)

    return received


def _copy(
    response: HTTPResponse, file: BinaryIO, size: int, received: Callable[[float], None]
) -> str:
    digest = hashlib.sha256()
    count = 0
    # read1 returns what one read of the socket gives, so that a slow manager outlives no deadline.
    while chunk := response.read1(min(_CHUNK_BYTES, size + 1 - count)):
        count += len(chunk)
        if count > size:
            break
        digest.update(chunk)
        store(file, chunk)
        received(count / size)
    _require_size(count, size)
    return f"sha256:{digest.hexdigest()}"


def store(file: RawIOBase | BinaryIO, chunk: bytes) -> None:
    """Write; a disk that does not take it is no fault of the manager's. Raises OperationFailed."""
    try:
        file.write(chunk)
    except OSError as error:
        raise _not_stored(error) from error


def _not_stored(error: OSError) -> OperationFailed:
    return operation_failed(
        FailureCode.FETCH_FAILED, f"the node cannot store the bitstream: {error}"
    )


def _require_size(actual: int | None, expected: int) -> None:
    if actual is not None and actual != expected:
        raise operation_failed(
            FailureCode.DIGEST_MISMATCH,
            "the manager's bitstream has another size",
            expected=f"{expected} bytes",
            actual=f"{actual} bytes" if actual < expected else f"more than {expected} bytes",
        )


def _require_sensible(wanted: WantedBitstream) -> WantedBitstream:
    try:
        require_digest(wanted.digest)
    except InvalidId as error:
        raise operation_failed(
            FailureCode.FORMAT_INVALID, error.message, expected=error.expected, actual=error.actual
        ) from error
    if not 0 < wanted.size_bytes <= MAX_BYTES:
        raise operation_failed(
            FailureCode.FORMAT_INVALID,
            "the request names a senseless size",
            expected=f"1 to {MAX_BYTES} bytes",
            actual=f"{wanted.size_bytes} bytes",
        )
    return wanted


def _fetch_failure(error: FpgaError) -> OperationFailed:
    if isinstance(error, OperationFailed):
        return error
    return operation_failed(
        FailureCode.FETCH_FAILED, error.message, expected=error.expected, actual=error.actual
    )


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except FileNotFoundError:
        return False


def _last_used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
