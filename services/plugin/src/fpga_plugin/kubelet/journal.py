"""The holds on disk: ``<state_dir>/holders.jsonl``, one line a change, the last of a device counts.

Lines are written without waiting for the disk, so that Allocate stays quick: the page cache
survives the death of the process, which is what the journal is for. After a power cut no container
runs, and the kubelet's own checkpoint, which PodResources shows, names the pods it starts again.
The poller syncs the file within seconds all the same.
"""

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from fpga_common.observability.logging import get_logger
from fpga_plugin.kubelet.holding import Hold, PodContainer
from fpga_plugin.state.durable import private_folder, replace_durably
from fpga_plugin.state.unreadable import NONSENSE, set_aside

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
        self._problem = ""

    def load(self, now: float) -> dict[str, Hold]:
        """The holds that were written; each counts as not seen since ``now`` (monotonic).

        A damaged file is set aside; a last line that was cut short is what a killed process leaves.
        """
        holds: dict[str, Hold] = {}
        *lines, torn = self._read().split("\n")
        bad = sum(not _apply(line, holds, now) for line in lines)
        if bad:
            set_aside(self._path, f"{bad} of {len(lines)} lines make no sense")
        elif not _apply(torn, holds, now):
            log.warning("holder_journal_cut_short", path=str(self._path))
        self._damaged = True
        self.compact_if_long(holds.values())
        return holds

    def write(self, changed: Iterable[Hold], released: Iterable[str]) -> None:
        """Append what changed. A full disk is logged; the holds are in memory all the same."""
        documents = [*map(_document, changed), *({"released": device} for device in released)]
        if not documents or self._descriptor is None:  # not opened yet: rewritten with the next
            return
        text = "".join(json.dumps(document) + "\n" for document in documents)
        self._append(text.encode(), len(documents))

    def compact_if_long(self, holds: Iterable[Hold]) -> None:
        """Rewrite the file when it has grown or a line could not be written."""
        if self._lines <= COMPACT_LINES and not self._damaged:
            return
        try:
            self._compact(holds)
            self._problem = ""
        except OSError as error:
            self._complain("holder_journal_not_rewritten", error)

    def _compact(self, holds: Iterable[Hold]) -> None:
        """Write the holds alone, in one step."""
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
            self._complain("holder_journal_not_written", error)
            return
        self._damaged = self._damaged or written < len(lead + data)
        self._lines += lines
        self._unsynced = True

    def _complain(self, event_name: str, error: OSError) -> None:
        """Log a problem once, until it changes or is over."""
        problem = f"{event_name}: {error}"
        if problem != self._problem:
            log.warning(event_name, path=str(self._path), error=str(error))
        self._problem = problem

    def _read(self) -> str:
        try:
            return self._path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            set_aside(self._path, str(error))
            return ""


def _apply(line: str, holds: dict[str, Hold], now: float) -> bool:
    """Whether the line made sense."""
    try:
        document = json.loads(line)
        if "released" in document:
            holds.pop(document["released"], None)
        else:
            hold = _hold(document, now)
            holds[hold.device] = hold
    except NONSENSE:
        return not line.strip()
    return True


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
        since=_epoch_seconds(document["since"]),
        allocated_at=now,
        unseen_since=now,
        holder=holder,
    )


def _epoch_seconds(value: Any) -> float:
    """Raises TypeError or ValueError where it is no time."""
    seconds = float(value)
    datetime.fromtimestamp(seconds, UTC)
    return seconds
