"""The journal of holders: what is read back after any kind of end."""

import errno
from dataclasses import replace
from pathlib import Path

import pytest

from fpga_plugin.kubelet.holding import Hold, PodContainer
from fpga_plugin.kubelet.journal import COMPACT_LINES, JOURNAL_NAME, HoldJournal

RESOURCE = "example.com/fpga"
INFINITE = '{"device": "x", "resource": "r", "since": Infinity}'


def hold(device: str, pod: str | None = None) -> Hold:
    named = PodContainer("team", pod, "main", RESOURCE) if pod else None
    return Hold(device, RESOURCE, since=5.0, allocated_at=1.0, unseen_since=1.0, holder=named)


def opened(folder: Path) -> HoldJournal:
    journal = HoldJournal(folder)
    journal.load(1.0)
    return journal


def reread(folder: Path) -> dict[str, Hold]:
    journal = HoldJournal(folder)
    holds = journal.load(1.0)
    journal.close()
    return holds


def test_what_was_written_is_read_back_without_closing(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.write([hold("a"), hold("b")], [])
    journal.write([hold("a", "one")], ["b"])
    assert reread(tmp_path) == {"a": hold("a", "one")}
    journal.close()


def test_a_line_cut_short_costs_that_line_alone(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.write([hold("a"), hold("b")], [])
    journal.close()
    path = tmp_path / JOURNAL_NAME
    path.write_bytes(path.read_bytes()[:-10])
    assert list(reread(tmp_path)) == ["a"]
    journal = opened(tmp_path)
    journal.write([hold("c")], [])
    journal.close()
    assert list(reread(tmp_path)) == ["a", "c"]


@pytest.mark.parametrize(
    "line", ["nonsense", "[]", "7", '{"device": 1}', "\xff\xfe", "null", "[" * 9999, INFINITE]
)
def test_a_line_that_makes_no_sense_is_left_out(tmp_path: Path, line: str) -> None:
    journal = opened(tmp_path)
    journal.write([hold("a")], [])
    journal.close()
    with (tmp_path / JOURNAL_NAME).open("a", encoding="latin-1") as file:
        file.write(line + "\n")
    assert list(reread(tmp_path)) == ["a"]


def test_a_restart_counts_every_hold_as_unseen_from_now_on(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.write([replace(hold("a", "one"), unseen_since=None)], [])
    journal.close()
    again = HoldJournal(tmp_path)
    (read,) = again.load(77.0).values()
    again.close()
    assert (read.allocated_at, read.unseen_since, read.shown_by) == (77.0, 77.0, None)


def test_a_long_journal_is_rewritten_to_a_line_a_device(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for _ in range(COMPACT_LINES + 1):
        journal.write([hold("a")], [])
    journal.compact_if_long([hold("a")])
    journal.write([hold("b")], [])
    journal.sync()
    journal.close()
    assert len((tmp_path / JOURNAL_NAME).read_text().splitlines()) == 2
    assert list(reread(tmp_path)) == ["a", "b"]


def test_the_journal_is_for_its_user_alone(tmp_path: Path) -> None:
    opened(tmp_path / "state").close()
    assert (tmp_path / "state" / JOURNAL_NAME).stat().st_mode & 0o777 == 0o600


def test_a_damaged_journal_is_set_aside_and_what_makes_sense_is_kept(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL_NAME
    opened(tmp_path).close()
    path.write_text('nonsense\n{"device": "a", "resource": "r", "since": 1}\n')
    assert list(reread(tmp_path)) == ["a"]
    (aside,) = tmp_path.glob(f"{JOURNAL_NAME}.unreadable-*")
    assert aside.read_text().startswith("nonsense")


def test_a_folder_in_the_journals_place_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / JOURNAL_NAME).mkdir()
    journal = opened(tmp_path)
    journal.write([hold("a")], [])
    journal.close()
    assert list(reread(tmp_path)) == ["a"]


def test_a_hold_that_the_disk_did_not_take_is_written_with_the_next_rewriting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = opened(tmp_path)
    with monkeypatch.context() as full_disk:
        full_disk.setattr("os.write", no_space)
        journal.write([hold("a")], [])
    journal.write([hold("b")], [])
    journal.compact_if_long([hold("a"), hold("b")])
    journal.close()
    assert list(reread(tmp_path)) == ["a", "b"]


def test_a_full_disk_at_the_start_costs_no_hold_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = HoldJournal(tmp_path)
    with monkeypatch.context() as full_disk:
        full_disk.setattr("os.fsync", no_space)
        assert journal.load(1.0) == {}
        journal.write([hold("a")], [])
    journal.compact_if_long([hold("a")])
    journal.close()
    assert list(reread(tmp_path)) == ["a"]


def no_space(descriptor: int, data: bytes = b"") -> int:
    raise OSError(errno.ENOSPC, "No space left on device")
