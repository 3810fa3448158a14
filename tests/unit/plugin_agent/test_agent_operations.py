"""The registry: each operation once, one a card, and no new one at the end."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fpga_common.domain.operation import FailureCode, Phase
from fpga_common.testing.waiting import wait_for
from fpga_plugin.agent.events import InvalidRequest, WantedBitstream
from fpga_plugin.agent.journal import Journal, StoredOperation
from fpga_plugin.agent.operation import Operation
from fpga_plugin.agent.operations import Operations
from fpga_plugin.failures import OperationFailed
from support.agent_doubles import NEW_AFU, REGION, Outcomes, request


class Work:
    """Carries operations out when ``go`` is set; counts how often."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.count = 0
        self.error: Exception | None = None

    def carry_out(self, operation: Operation) -> str:
        self.count += 1
        operation.enter(Phase.FETCHING, "fetching")
        while not self.go.is_set():
            operation.wait_stop(0.01)
        if self.error is not None:
            raise self.error
        operation.begin_write("writing")
        operation.progress(0.5)
        return NEW_AFU


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def outcomes() -> Outcomes:
    return Outcomes()


@pytest.fixture
def operations(tmp_path: Path, work: Work, outcomes: Outcomes) -> Iterator[Operations]:
    operations = Operations(Journal(tmp_path), work.carry_out, outcomes)
    yield operations
    work.go.set()
    assert operations.stop(10.0)


def _events(operation: Operation | StoredOperation) -> list[tuple[int, Phase, float]]:
    events = (
        operation.events
        if isinstance(operation, StoredOperation)
        else operation.follow(lambda: True)
    )
    return [(event.sequence, event.phase, event.percent) for event in events]


def test_events_count_from_one_without_gaps_and_percent_never_falls(
    operations: Operations, work: Work
) -> None:
    work.go.set()
    events = _events(operations.program(request()))
    assert [sequence for sequence, _, _ in events] == list(range(1, len(events) + 1))
    assert [percent for _, _, percent in events] == sorted(percent for _, _, percent in events)
    assert events[0][1] is Phase.ACCEPTED
    assert events[-1] == (len(events), Phase.DONE, 100.0)


def test_a_second_call_attaches_to_the_running_operation(
    operations: Operations, work: Work
) -> None:
    first = operations.program(request())
    second = operations.program(request())
    work.go.set()
    assert _events(first) == _events(second)
    assert work.count == 1


def test_a_call_after_the_end_gets_the_stored_end_and_starts_nothing(
    operations: Operations, work: Work
) -> None:
    work.go.set()
    events = _events(operations.program(request()))
    wait_for(lambda: isinstance(operations.find("load-1.1"), StoredOperation))

    assert _events(operations.program(request())) == events
    assert work.count == 1


def test_the_end_is_known_to_the_next_process(
    operations: Operations, work: Work, tmp_path: Path
) -> None:
    work.go.set()
    events = _events(operations.program(request()))
    next_work = Work()
    following = Operations(Journal(tmp_path), next_work.carry_out, Outcomes())
    assert _events(following.program(request())) == events
    assert next_work.count == 0


def test_another_operation_on_the_card_is_refused_and_leaves_no_trace(
    operations: Operations,
) -> None:
    operations.program(request("load-1.1"))
    with pytest.raises(OperationFailed) as refused:
        operations.program(request("load-2.1"))
    assert refused.value.failure.code is FailureCode.CARD_BUSY
    assert refused.value.failure.actual == "load-1.1"
    assert operations.find("load-2.1") is None


def test_another_card_is_programmed_at_the_same_time(operations: Operations, work: Work) -> None:
    operations.program(request("load-1.1"))
    operations.program(request("load-2.1", region_id="0000:5e:00.0-r0"))
    wait_for(lambda: work.count == 2)


def test_an_operation_id_belongs_to_one_region_and_one_bitstream(operations: Operations) -> None:
    operations.program(request())
    other = WantedBitstream(f"sha256:{'0' * 64}", 1, "gbs", "", "")
    with pytest.raises(InvalidRequest, match="another operation"):
        operations.program(request(bitstream=other))


def test_an_operation_that_breaks_ends_as_internal(
    operations: Operations, work: Work, outcomes: Outcomes
) -> None:
    work.error = ZeroDivisionError("division by zero")
    work.go.set()
    operation = operations.program(request())
    assert _events(operation)[-1][1] is Phase.FAILED
    assert operation.last.failure is not None
    assert operation.last.failure.code is FailureCode.INTERNAL
    wait_for(lambda: outcomes.seen == ["internal"])


def test_a_cancel_before_the_write_ends_the_operation(operations: Operations) -> None:
    operation = operations.program(request())
    answer = operations.cancel("load-1.1", "grace")
    assert answer is not None
    assert answer.accepted
    assert _events(operation)[-1][1] is Phase.FAILED
    assert operation.last.failure is not None
    assert operation.last.failure.code is FailureCode.CANCELLED
    assert "grace" in operation.last.message


def test_a_cancel_after_the_end_is_not_accepted(operations: Operations, work: Work) -> None:
    work.go.set()
    _events(operations.program(request()))
    answer = operations.cancel("load-1.1", "grace")
    assert answer is not None
    assert not answer.accepted
    assert operations.cancel("load-9.1", "grace") is None


def test_a_deadline_that_passes_before_the_write_ends_the_operation(
    operations: Operations,
) -> None:
    operation = operations.program(request(deadline=1.0))
    assert _events(operation)[-1][1] is Phase.FAILED
    assert operation.last.failure is not None
    assert operation.last.failure.code is FailureCode.DEADLINE_EXCEEDED


def test_stopping_ends_what_has_not_begun_to_write_and_accepts_nothing_more(
    operations: Operations,
) -> None:
    operation = operations.program(request())
    assert operations.stop(10.0)
    assert operation.last.failure is not None
    assert operation.last.failure.code is FailureCode.SHUTTING_DOWN
    with pytest.raises(OperationFailed) as refused:
        operations.program(request("load-2.1", region_id=REGION))
    assert refused.value.failure.code is FailureCode.SHUTTING_DOWN


def test_a_follower_who_went_away_is_let_go(operations: Operations) -> None:
    operation = operations.program(request())
    assert isinstance(operation, Operation)
    assert next(operation.follow(lambda: False)).phase is Phase.ACCEPTED


@pytest.mark.parametrize("region_id", ["", "garbage", "0000:3b:00.0", "0000:3b:00.0-rx"])
def test_an_id_that_names_no_region_is_refused_also_while_another_operation_runs(
    operations: Operations, region_id: str
) -> None:
    running = operations.program(request("load-1.1"))
    with pytest.raises(OperationFailed) as refused:
        operations.program(request("load-2.1", region_id=region_id))
    assert refused.value.failure.code is FailureCode.REGION_UNKNOWN
    assert operations.find("load-2.1") is None
    assert not running.ended
