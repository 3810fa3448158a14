"""The operations journal: what survives, and what a torn file means."""

import errno
from pathlib import Path

import pytest

from fpga_common.domain.operation import Failure, FailureCode, Phase
from fpga_plugin.agent.events import InvalidRequest, OperationEvent, require_operation_id
from fpga_plugin.agent.journal import Journal
from fpga_plugin.agent.operation import Operation, first_event
from support.agent_doubles import request


def _begin(journal: Journal, operation_id: str = "load-1.1") -> Operation:
    wanted = request(operation_id)
    accepted = first_event(wanted)
    return Operation(wanted, journal.begin(wanted, accepted), (accepted,))


def test_an_operation_is_found_by_another_process_with_every_event(tmp_path: Path) -> None:
    operation = _begin(Journal(tmp_path))
    operation.enter(Phase.FETCHING, "fetching nlb0")

    found = Journal(tmp_path).find("load-1.1")

    assert found is not None
    assert found.request == request()
    assert [event.phase for event in found.events] == [Phase.ACCEPTED, Phase.FETCHING]
    assert not found.ended


def test_an_ended_operation_is_no_longer_open(tmp_path: Path) -> None:
    failure = Failure(FailureCode.REGION_HELD, "held", expected="no holder", actual="pod ml/x")
    journal = Journal(tmp_path)
    _begin(journal).fail(failure)

    found = journal.find("load-1.1")

    assert found is not None
    assert found.ended
    assert found.last.failure == failure
    assert list(journal.unended()) == []


def test_an_operation_that_was_never_accepted_is_unknown(tmp_path: Path) -> None:
    assert Journal(tmp_path).find("load-1.1") is None


def test_a_torn_last_line_does_not_count(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    _begin(journal).enter(Phase.FETCHING, "fetching")
    path = tmp_path / "operations" / "open" / "load-1.1.jsonl"
    path.write_bytes(path.read_bytes()[:-5])

    (left,) = journal.unended()
    assert left.last.phase is Phase.ACCEPTED

    resumed = Operation(left.request, journal.resume(left), left.events)
    resumed.fail(Failure(FailureCode.INTERRUPTED, "the process ended"))
    found = journal.find("load-1.1")
    assert found is not None
    assert [event.sequence for event in found.events] == [1, 2]


def test_an_operation_that_ended_just_before_the_process_died_is_ended(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    _begin(journal).succeed("ab" * 16, "verified")
    folder = tmp_path / "operations"
    (folder / "ended" / "load-1.1.jsonl").rename(folder / "open" / "load-1.1.jsonl")

    assert list(journal.unended()) == []
    found = journal.find("load-1.1")
    assert found is not None
    assert found.ended


def _damage(content: bytes) -> bytes:
    """The content with its last line but one replaced by nonsense."""
    lines = content.splitlines(keepends=True)
    return b"".join([*lines[:-1], b"nonsense\n", lines[-1]])


@pytest.mark.parametrize("content", [b"\0\0\n", b"{}\n{}\n", b"[]\n7\n", b"[" * 9999 + b"\n"])
def test_a_damaged_record_is_an_end_and_stops_nobody(tmp_path: Path, content: bytes) -> None:
    journal = Journal(tmp_path)
    _begin(journal)
    (tmp_path / "operations" / "open" / "load-9.2.jsonl").write_bytes(content)

    left = {operation.request.operation_id: operation for operation in journal.unended()}
    assert (left["load-1.1"].damaged, left["load-9.2"].damaged) == (False, True)
    assert [operation.request.operation_id for operation in journal.unended()] == ["load-1.1"]

    found = Journal(tmp_path).find("load-9.2")
    assert found is not None
    assert found.ended
    assert (found.request.load_id, found.request.attempt) == ("load-9", 2)
    assert found.last.failure is not None
    assert found.last.failure.code is FailureCode.INTERRUPTED


def test_what_precedes_the_damage_of_a_record_still_counts(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    _begin(journal).enter(Phase.FETCHING, "fetching")
    path = tmp_path / "operations" / "open" / "load-1.1.jsonl"
    path.write_bytes(_damage(path.read_bytes()))

    found = journal.find("load-1.1")
    assert found is not None
    assert found.request == request()
    assert [event.phase for event in found.events] == [Phase.ACCEPTED, Phase.FAILED]
    assert [event.sequence for event in found.events] == [1, 2]


def test_a_record_under_another_operations_name_is_damaged(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    _begin(journal)
    folder = tmp_path / "operations" / "open"
    (folder / "load-1.1.jsonl").rename(folder / "load-2.1.jsonl")
    found = journal.find("load-2.1")
    assert found is not None
    assert found.damaged


def test_a_request_whose_acceptance_was_never_recorded_is_forgotten(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    _begin(journal)
    path = tmp_path / "operations" / "open" / "load-1.1.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])

    assert list(journal.unended()) == []
    assert journal.find("load-1.1") is None
    _begin(journal)


def test_a_line_that_the_disk_does_not_take_leaves_the_record_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    operation = _begin(journal)
    with monkeypatch.context() as full_disk:
        full_disk.setattr("os.fsync", _no_space)
        with pytest.raises(OSError, match="No space"):
            operation.enter(Phase.PROGRAMMING, "writing")
    operation.enter(Phase.CHECKING, "checking")

    found = journal.find("load-1.1")
    assert found is not None
    assert [event.phase for event in found.events] == [Phase.ACCEPTED, Phase.CHECKING]


def test_an_operation_that_could_not_be_recorded_can_be_accepted_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    with monkeypatch.context() as full_disk:
        full_disk.setattr("os.fsync", _no_space)
        with pytest.raises(OSError, match="No space"):
            _begin(journal)
    assert journal.find("load-1.1") is None
    _begin(journal)
    assert journal.find("load-1.1") is not None


def _no_space(descriptor: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_only_the_newest_ended_operations_are_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path, kept_ended=2)
    for attempt in range(1, 5):
        _begin(journal, f"load-1.{attempt}").succeed("ab" * 16, "verified")
    journal.prune()

    kept = [attempt for attempt in range(1, 5) if journal.find(f"load-1.{attempt}")]
    assert kept == [3, 4]


@pytest.mark.parametrize("text", ["", ".", "../x", "a/b", "x" * 129, "a\0b", "a b"])
def test_an_id_that_cannot_name_a_file_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        require_operation_id(text)


def test_every_field_of_an_event_survives(tmp_path: Path) -> None:
    wanted = request()
    accepted = first_event(wanted)
    log = Journal(tmp_path).begin(wanted, accepted)
    last = OperationEvent(2, Phase.DONE, 100.0, "verified", 1, None, "ab" * 16)
    log.append(last)

    found = Journal(tmp_path).find(wanted.operation_id)
    assert found is not None
    assert found.events == (accepted, last)
