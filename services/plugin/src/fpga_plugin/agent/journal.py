"""The operations journal: what this node was asked to do and how far it got.

One file an operation, one line an event, the request first. A line counts once its line end is
there, so a process that dies while it writes leaves nothing half true. Files of running operations
are in ``open``, those of ended ones in ``ended``. Used by ``agent.operations`` and
``agent.recovery``; knows nothing of hardware.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from typing import Final

from fpga_common.domain.operation import Failure, FailureCode, Phase
from fpga_common.observability.logging import get_logger
from fpga_plugin.agent.events import (
    Document,
    OperationEvent,
    OperationRequest,
    WantedBitstream,
    event_document,
    event_from,
    request_document,
    request_from,
)
from fpga_plugin.state.durable import sync_folder
from fpga_plugin.state.unreadable import NONSENSE, folder_in

KEPT_ENDED: Final = 1000
"""How many ended operations are remembered; a load has at most a handful of attempts."""

_SYNCED: Final = frozenset({Phase.ACCEPTED, Phase.PROGRAMMING, Phase.DONE, Phase.FAILED})
_SUFFIX: Final = ".jsonl"

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class StoredOperation:
    """An operation as the journal knows it.

    Of a ``damaged`` record what could be read is there, and that it was interrupted.
    """

    request: OperationRequest
    events: tuple[OperationEvent, ...]
    damaged: bool = False

    @property
    def last(self) -> OperationEvent:
        """Its newest event."""
        return self.events[-1]

    @property
    def ended(self) -> bool:
        """Whether nothing can follow."""
        return self.last.phase.ended


class OperationLog:
    """The file of one running operation."""

    def __init__(self, path: Path, ended_folder: Path) -> None:
        self._path = path
        self._ended_folder = ended_folder

    def append(self, event: OperationEvent) -> None:
        """Add one event; ends, and what precedes a write, are on the disk when this returns.

        Raises OSError when the disk does not take it; the file is then as it was before.
        """
        # Unbuffered: closing a buffer would write the rest of a line after it was taken back.
        with self._path.open("ab", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            try:
                _write_whole(file, _line(event_document(event)))
                if event.phase in _SYNCED:
                    os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
        if event.phase.ended:
            _move(self._path, self._ended_folder)


class Journal:
    """Every operation of the node, in ``<state_dir>/operations``."""

    def __init__(self, state_dir: Path, *, kept_ended: int = KEPT_ENDED) -> None:
        self._open = folder_in(state_dir, "operations", "open")
        self._ended = folder_in(state_dir, "operations", "ended")
        self._kept_ended = kept_ended

    def begin(self, request: OperationRequest, accepted: OperationEvent) -> OperationLog:
        """Record that an operation was accepted. Raises OSError when the disk does not take it."""
        self.prune()
        path = self._open / (request.operation_id + _SUFFIX)
        operation_log = OperationLog(path, self._ended)
        try:
            path.write_bytes(_line(request_document(request)))
            operation_log.append(accepted)
            sync_folder(self._open)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        return operation_log

    def resume(self, operation: StoredOperation) -> OperationLog:
        """Open the file of an operation that has not ended, to end it."""
        path = self._open / (operation.request.operation_id + _SUFFIX)
        _drop_torn_line(path)
        return OperationLog(path, self._ended)

    def find(self, operation_id: str) -> StoredOperation | None:
        """What is recorded of an operation, None where it was never accepted."""
        for folder in (self._ended, self._open):
            path = folder / (operation_id + _SUFFIX)
            if path.exists():
                return _read(path)
        return None

    def unended(self) -> Iterator[StoredOperation]:
        """Operations without an end: after a start, those that the last process left.

        A damaged record is among them, put with the ended ones: nothing can be added to it.
        """
        for path in sorted(self._open.glob("*" + _SUFFIX)):
            operation = _read(path)
            if operation is None:
                path.unlink(missing_ok=True)
                continue
            if operation.ended:
                _move(path, self._ended)
            if operation.damaged:
                log.error("operation_record_damaged", path=str(self._ended / path.name))
            if operation.damaged or not operation.ended:
                yield operation

    def prune(self) -> None:
        """Forget the oldest ended operations beyond the limit."""
        with os.scandir(self._ended) as entries:
            files = [(entry.stat().st_mtime, entry.path) for entry in entries]
        for _, path in sorted(files)[: max(0, len(files) - self._kept_ended)]:
            with contextlib.suppress(OSError):  # whatever else lies there
                Path(path).unlink()


def _line(document: Document) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def _write_whole(file: RawIOBase, data: bytes) -> None:
    while data:
        data = data[file.write(data) or 0 :]


def _move(path: Path, folder: Path) -> None:
    path.replace(folder / path.name)
    sync_folder(folder)
    sync_folder(path.parent)


def _read(path: Path) -> StoredOperation | None:
    """What a file says, None where the operation was not accepted before the process died."""
    operation_id = path.name.removesuffix(_SUFFIX)
    request = _unknown_request(operation_id)
    events: list[OperationEvent] = []
    try:
        whole, _, _torn = path.read_bytes().rpartition(b"\n")
        lines = whole.splitlines()
        request = _own_request(json.loads(lines[0]), operation_id) if lines else request
        for line in lines[1:]:
            events.append(event_from(json.loads(line)))
    except (OSError, *NONSENSE):
        if not (events and events[-1].phase.ended):
            return StoredOperation(request, (*events, _damaged_end(events)), damaged=True)
    return StoredOperation(request, tuple(events)) if events else None


def _own_request(document: Document, operation_id: str) -> OperationRequest:
    request = request_from(document)
    if request.operation_id != operation_id:
        raise ValueError(f"operation_id: found {request.operation_id}")
    return request


def _unknown_request(operation_id: str) -> OperationRequest:
    load_id, _, attempt = operation_id.rpartition(".")
    number = int(attempt) if attempt.isdecimal() else 0
    return OperationRequest(operation_id, load_id, number, "", WantedBitstream("", 0, "", "", ""))


def _damaged_end(events: Sequence[OperationEvent]) -> OperationEvent:
    sequence, percent = (events[-1].sequence, events[-1].percent) if events else (0, 0.0)
    failure = Failure(
        FailureCode.INTERRUPTED, "the node's record of the operation is damaged; nobody knows more"
    )
    return OperationEvent(sequence + 1, Phase.FAILED, percent, failure.message, 0, failure)


def _drop_torn_line(path: Path) -> None:
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole != len(content):
        os.truncate(path, whole)
