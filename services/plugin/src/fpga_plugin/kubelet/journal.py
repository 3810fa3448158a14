"""The holds on disk: ``<state_dir>/holders.jsonl``, one line a change, the last of a device counts.

Lines are written without waiting for the disk, so that Allocate stays quick: the page cache
survives the death of the process, which is what the journal is for. After a power cut no container
runs, and the kubelet's own checkpoint, which PodResources shows, names the pods it starts again.
The poller syncs the file within seconds all the same.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from fpga_common.observability.logging import get_logger
from fpga_plugin.kubelet.holding import Hold, PodContainer
from fpga_plugin.state.durable import private_folder, replace_durably

JOURNAL_NAME: Final = "holders.jsonl"
COMPACT_LINES: Final = 2000
"""More lines than this are rewritten to one a device."""

_MODE: Final = 0o600

log = get_logger(__name__)


class HoldJournal:
    """Reads at start and appends; not thread-safe, its owner locks."""

    def __init__(self, state_dir: Path) -> None:
        self._path = private_folder(state_dir) / JOURNAL_NAME
        self._descriptor: int | None = None
        self._lines = 0
        self._damaged = False
        self._unsynced = False

    def load(self, now: float) -> dict[str, Hold]:
        """The holds that were written; each counts as not seen since ``now`` (monotonic).

        Raises OSError when the file is there and cannot be read or written.
        """
        holds: dict[str, Hold] = {}
        for line in self._read():
            _apply(line, holds, now)
        self.compact(holds.values())
        return holds

    def write(self, changed: Iterable[Hold], released: Iterable[str]) -> None:
        """Append what changed. A full disk is logged; the holds are in memory all the same."""
        documents = [*map(_document, changed), *({"released": device} for device in released)]
        if not documents or self._descriptor is None:
            return
        text = "".join(json.dumps(document) + "\n" for document in documents)
        self._append(text.encode(), len(documents))

    def compact_if_long(self, holds: Iterable[Hold]) -> None:
        """Rewrite the file when it has grown or a line could not be written."""
        if self._lines <= COMPACT_LINES and not self._damaged:
            return
        try:
            self.compact(holds)
        except OSError as error:
            log.warning("holder_journal_not_rewritten", path=str(self._path), error=str(error))

    def compact(self, holds: Iterable[Hold]) -> None:
        """Write the holds alone, in one step. Raises OSError."""
        lines = [json.dumps(_document(hold)) + "\n" for hold in holds]
        replace_durably(self._path, "".join(lines).encode(), mode=_MODE)
        self.close()
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._lines, self._damaged = len(lines), False

    def sync(self) -> None:
        """Bring what was appended to the disk; for the thread that compacts, without any lock."""
        if self._descriptor is None or not self._unsynced:
            return
        self._unsynced = False
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            log.warning("holder_journal_not_synced", path=str(self._path), error=str(error))

    def close(self) -> None:
        """Close the file; nothing is written afterwards."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _append(self, data: bytes, lines: int) -> None:
        assert self._descriptor is not None  # noqa: S101
        lead = b"\n" if self._damaged else b""
        try:
            written = os.write(self._descriptor, lead + data)
        except OSError as error:
            self._damaged = True
            log.warning("holder_journal_not_written", path=str(self._path), error=str(error))
            return
        self._damaged = written < len(lead + data)
        self._lines += lines
        self._unsynced = True

    def _read(self) -> list[str]:
        try:
            return self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []


def _apply(line: str, holds: dict[str, Hold], now: float) -> None:
    try:
        document = json.loads(line)
        if "released" in document:
            holds.pop(document["released"], None)
        else:
            hold = _hold(document, now)
            holds[hold.device] = hold
    except (ValueError, KeyError, TypeError):
        if line.strip():
            log.warning("holder_journal_line_ignored", line=line[:200])


def _document(hold: Hold) -> dict[str, Any]:
    document: dict[str, Any] = {
        "device": hold.device,
        "resource": hold.resource,
        "since": hold.since,
    }
    if hold.holder is not None:
        document["namespace"] = hold.holder.namespace
        document["pod"] = hold.holder.pod
        document["container"] = hold.holder.container
    return document


def _hold(document: dict[str, Any], now: float) -> Hold:
    resource = str(document["resource"])
    holder = None
    if "pod" in document:
        holder = PodContainer(
            str(document["namespace"]), str(document["pod"]), str(document["container"]), resource
        )
    return Hold(
        device=str(document["device"]),
        resource=resource,
        since=float(document["since"]),
        allocated_at=now,
        unseen_since=now,
        holder=holder,
    )
