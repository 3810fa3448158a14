"""The operations journal: what this node was asked to do and how far it got.

One file an operation, one line an event, the request first. A line counts once its line end is
there, so a process that dies while it writes leaves nothing half true. Files of running operations
are in ``open``, those of ended ones in ``ended``. Used by ``agent.operations`` and
``agent.recovery``; knows nothing of hardware.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fpga_common.domain.operation import Phase
from fpga_common.observability.logging import get_logger
from fpga_plugin.agent.events import (
    Document,
    OperationEvent,
    OperationRequest,
    event_document,
    event_from,
    request_document,
    request_from,
)
from fpga_plugin.state.durable import private_folder, sync_folder

KEPT_ENDED: Final = 1000
"""How many ended operations are remembered; a load has at most a handful of attempts."""

_SYNCED: Final = frozenset({Phase.ACCEPTED, Phase.PROGRAMMING, Phase.DONE, Phase.FAILED})
_SUFFIX: Final = ".jsonl"

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class StoredOperation:
    """An operation as the journal knows it."""

    request: OperationRequest
    events: tuple[OperationEvent, ...]

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

        Raises OSError when the disk does not take it.
        """
        with self._path.open("ab") as file:
            file.write(_line(event_document(event)))
            file.flush()
            if event.phase in _SYNCED:
                os.fsync(file.fileno())
        if event.phase.ended:
            _move(self._path, self._ended_folder)


class Journal:
    """Every operation of the node, in ``<state_dir>/operations``."""

    def __init__(self, state_dir: Path, *, kept_ended: int = KEPT_ENDED) -> None:
        self._open = private_folder(state_dir / "operations" / "open")
        self._ended = private_folder(state_dir / "operations" / "ended")
        self._kept_ended = kept_ended

    def begin(self, request: OperationRequest, accepted: OperationEvent) -> OperationLog:
        """Record that an operation was accepted. Raises OSError when the disk does not take it."""
        self.prune()
        path = self._open / (request.operation_id + _SUFFIX)
        with path.open("xb") as file:
            file.write(_line(request_document(request)))
        operation_log = OperationLog(path, self._ended)
        operation_log.append(accepted)
        sync_folder(self._open)
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
        """Operations without an end: after a start, those that the last process left."""
        for path in sorted(self._open.glob("*" + _SUFFIX)):
            operation = _read(path)
            if operation is None:
                path.replace(path.with_suffix(".unreadable"))
                log.error("operation_unreadable", path=str(path))
            elif operation.ended:
                _move(path, self._ended)
            else:
                yield operation

    def prune(self) -> None:
        """Forget the oldest ended operations beyond the limit."""
        with os.scandir(self._ended) as entries:
            files = [(entry.stat().st_mtime, entry.path) for entry in entries]
        for _, path in sorted(files)[: max(0, len(files) - self._kept_ended)]:
            Path(path).unlink(missing_ok=True)


def _line(document: Document) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def _move(path: Path, folder: Path) -> None:
    path.replace(folder / path.name)
    sync_folder(folder)
    sync_folder(path.parent)


def _read(path: Path) -> StoredOperation | None:
    whole, _, _torn = path.read_bytes().rpartition(b"\n")
    try:
        request, *events = [json.loads(line) for line in whole.splitlines()]
        if not events:
            return None
        return StoredOperation(request_from(request), tuple(event_from(event) for event in events))
    except (ValueError, KeyError, TypeError):
        return None


def _drop_torn_line(path: Path) -> None:
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole != len(content):
        os.truncate(path, whole)
