"""Repeated work that raises or hangs."""

import threading
from collections.abc import Iterator

import pytest

from fpga_common.testing.waiting import wait_for
from fpga_plugin.inventory import repeating
from fpga_plugin.inventory.repeating import ABANDONED_LIMIT, Repeating


class Work:
    """Counts its runs; hangs while ``gate`` is closed, raises while ``broken``."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.broken = False
        self.begun = 0
        self.results: list[int] = []
        self.overdue = 0

    def run(self) -> int:
        self.begun += 1
        number = self.begun
        self.gate.wait()
        if self.broken:
            raise RuntimeError("defect")
        return number

    def finished(self, number: int) -> float:
        self.results.append(number)
        return 30.0

    def count_overdue(self) -> None:
        self.overdue += 1


def wait_for_result(work: Work, repeated: Repeating[int]) -> None:
    def there() -> bool:
        repeated.supervise()
        return bool(work.results)

    wait_for(there)


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def repeated(work: Work, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repeating[int]]:
    monkeypatch.setattr(repeating, "FIRST_RETRY_SECONDS", 0.0)
    monkeypatch.setattr(repeating, "FAILED_PAUSE_SECONDS", 30.0)
    repeated = Repeating(
        "test-work",
        work.run,
        finished=work.finished,
        overdue=work.count_overdue,
        deadline_seconds=0.05,
    )
    yield repeated
    repeated.stop()
    work.gate.set()
    repeated.join(5.0)


def test_run_now_returns_after_a_run_that_began_later(work: Work, repeated: Repeating[int]) -> None:
    repeated.start()
    assert repeated.wait_for_first(5.0)
    assert repeated.run_now(5.0)
    assert work.results == [1, 2]


def test_work_that_raises_is_done_again(work: Work, repeated: Repeating[int]) -> None:
    work.broken = True
    repeated.start()
    assert repeated.wait_for_first(5.0)
    work.broken = False
    assert repeated.run_now(5.0)
    assert work.results == [2]


def test_a_run_that_hangs_is_reported_once_and_its_result_thrown_away(
    work: Work, repeated: Repeating[int]
) -> None:
    work.gate.clear()
    repeated.start()

    def hanging() -> bool:
        repeated.supervise()
        return work.overdue == 1

    wait_for(hanging)
    work.gate.set()
    wait_for_result(work, repeated)
    assert 1 not in work.results


def test_no_more_than_a_few_threads_hang(work: Work, repeated: Repeating[int]) -> None:
    work.gate.clear()
    repeated.start()

    def at_limit() -> bool:
        repeated.supervise()
        return work.overdue == ABANDONED_LIMIT

    wait_for(at_limit)
    for _ in range(20):
        repeated.supervise()
    assert work.begun == ABANDONED_LIMIT
    work.gate.set()
    wait_for_result(work, repeated)


def test_a_stopped_work_lets_waiters_go(work: Work, repeated: Repeating[int]) -> None:
    repeated.start()
    assert repeated.wait_for_first(5.0)
    repeated.stop()
    repeated.join(5.0)
    assert repeated.run_now(5.0)
    assert work.begun == 1
