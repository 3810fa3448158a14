"""The handover: who keeps the region, who gets it back, and what is never written."""

import pytest

from fpga_common.domain.card import RegionState
from fpga_common.domain.errors import Temporary
from fpga_common.domain.operation import Failure, FailureCode, Phase
from fpga_common.testing.waiting import wait_for
from fpga_plugin.agent.events import OperationEvent
from fpga_plugin.agent.journal import StoredOperation
from fpga_plugin.agent.operation import Operation
from support.agent_bench import Bench
from support.agent_doubles import (
    INTERFACE,
    NEW_AFU,
    OLD_AFU,
    REGION,
    PodHolder,
    card,
    request,
)


def _failure(operation: Operation | StoredOperation) -> Failure:
    assert operation.last.phase is Phase.FAILED
    assert operation.last.failure is not None
    return operation.last.failure


def test_a_free_region_is_reserved_while_written_and_ready_once_verified(bench: Bench) -> None:
    operation = bench.run()
    assert operation.last.phase is Phase.DONE
    assert operation.last.afu_id == NEW_AFU
    assert bench.programmer.states_seen == [RegionState.RESERVED]
    assert (bench.region().state, bench.region().afu_id) == (RegionState.READY, NEW_AFU)
    wait_for(lambda: bench.outcomes.seen == ["ok"])


def test_the_write_waits_until_the_kubelet_has_withdrawn_the_region(bench: Bench) -> None:
    bench.kubelet.offers = 3
    assert bench.run().last.phase is Phase.DONE
    assert bench.kubelet.asked.count(f"withdrawn {REGION}") == 4
    assert bench.kubelet.asked[-1] == f"holder {REGION}"


def test_a_held_region_is_not_even_reserved_and_the_pod_is_named(bench: Bench) -> None:
    bench.kubelet.holder = PodHolder()
    failure = _failure(bench.run())
    assert failure.code is FailureCode.REGION_HELD
    assert failure.actual == "pod ml/trainer (container main)"
    assert not bench.inventory.touched.is_set()
    assert bench.region().afu_id == OLD_AFU


def test_a_pod_that_got_the_region_at_the_last_moment_keeps_it(bench: Bench) -> None:
    original = bench.kubelet.withdrawn

    def withdrawn(device_id: str, deadline: float) -> bool:
        bench.kubelet.holder = PodHolder(pod=None, source="journal")
        return original(device_id, deadline)

    bench.kubelet.withdrawn = withdrawn  # type: ignore[method-assign]
    failure = _failure(bench.run())
    assert failure.code is FailureCode.REGION_HELD
    assert bench.region().state is RegionState.READY
    assert bench.programmer.states_seen == []


def test_a_region_open_elsewhere_says_so(bench: Bench) -> None:
    bench.kubelet.holder = PodHolder(pod=None, source="open")
    assert _failure(bench.run()).code is FailureCode.OPEN_ELSEWHERE


def test_force_programs_a_held_region_and_records_the_pod(bench: Bench) -> None:
    bench.kubelet.holder = PodHolder()
    operation = bench.run(force=True)
    assert operation.last.phase is Phase.DONE
    messages = [event.message for event in _all_events(bench)]
    assert "forced by ada although held by pod ml/trainer (container main)" in messages


def test_a_kubelet_that_does_not_let_go_is_a_timeout_and_the_region_stays(bench: Bench) -> None:
    bench.kubelet.offers = 10**9
    failure = _failure(bench.run())
    assert failure.code is FailureCode.DRAIN_TIMEOUT
    assert failure.actual == "the kubelet still offers it"
    assert bench.region().state is RegionState.READY


def test_a_kubelet_that_cannot_be_asked_never_counts_as_no_holder(bench: Bench) -> None:
    bench.kubelet.unreachable = Temporary("no such socket")
    failure = _failure(bench.run())
    assert failure.code is FailureCode.DRAIN_TIMEOUT
    assert "no such socket" in str(failure.actual)
    assert bench.programmer.states_seen == []


def test_a_region_that_cannot_be_opened_alone_stays_as_it_was(bench: Bench) -> None:
    bench.programmer.refusal = Failure(FailureCode.OPEN_ELSEWHERE, "open in process 4711")
    assert _failure(bench.run()).code is FailureCode.OPEN_ELSEWHERE
    assert bench.region().state is RegionState.READY


def test_a_failed_write_quarantines_the_region(bench: Bench) -> None:
    bench.programmer.failure = ZeroDivisionError("a bug in a programmer")
    assert _failure(bench.run()).code is FailureCode.INTERNAL
    assert bench.region().state is RegionState.QUARANTINED
    assert "a bug in a programmer" in bench.region().reason


def test_another_afu_read_back_quarantines_the_region_with_both_ids(bench: Bench) -> None:
    bench.programmer.afu_id = OLD_AFU
    failure = _failure(bench.run())
    assert failure.code is FailureCode.VERIFICATION_MISMATCH
    assert (failure.expected, failure.actual) == (NEW_AFU, OLD_AFU)
    assert bench.region().state is RegionState.QUARANTINED


def test_a_successful_load_ends_the_quarantine(bench: Bench) -> None:
    bench.reservations.quarantine(REGION, "mismatch")
    bench.inventory.touch()
    assert bench.run().last.phase is Phase.DONE
    assert bench.region().state is RegionState.READY


def test_a_cancel_while_draining_gives_the_region_back(bench: Bench) -> None:
    bench.kubelet.offers = 10**9
    operation = bench.operations.program(request())
    assert bench.inventory.touched.wait(10.0)
    answer = bench.operations.cancel(operation.request.operation_id, "grace")
    assert answer is not None
    assert answer.accepted
    wait_for(lambda: operation.last.phase.ended)
    assert _failure(operation).code is FailureCode.CANCELLED
    assert bench.region().state is RegionState.READY


def test_a_write_that_has_begun_is_not_cancelled_and_is_finished_at_the_end(
    bench: Bench,
) -> None:
    bench.programmer.go.clear()
    operation = bench.operations.program(request())
    assert bench.programmer.writing.wait(10.0)
    answer = bench.operations.cancel("load-1.1", "grace")
    assert answer is not None
    assert not answer.accepted
    assert not bench.operations.stop(0.0)
    bench.programmer.go.set()
    assert bench.operations.stop(10.0)
    assert operation.last.phase is Phase.DONE


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"state": RegionState.STATIC}, FailureCode.REGION_STATIC),
        ({"state": RegionState.UNUSABLE, "reason": "no FME"}, FailureCode.REGION_UNUSABLE),
        ({"state": RegionState.MISSING}, FailureCode.CARD_MISSING),
        ({"interface_id": None}, FailureCode.REGION_UNUSABLE),
        ({"interface_id": "ab" * 16}, FailureCode.INTERFACE_MISMATCH),
    ],
)
def test_a_region_that_does_not_fit_is_never_written(
    bench: Bench, changes: dict[str, object], code: FailureCode
) -> None:
    bench.inventory.hardware[card().id] = card(**changes)
    bench.inventory.touch()
    assert _failure(bench.run()).code is code
    assert bench.programmer.states_seen == []


def test_the_ids_of_a_mismatch_are_told(bench: Bench) -> None:
    bench.inventory.hardware[card().id] = card(interface_id="ab" * 16)
    bench.inventory.touch()
    failure = _failure(bench.run())
    assert (failure.expected, failure.actual) == ("ab" * 16, INTERFACE)


def test_a_cordoned_region_is_not_programmed(bench: Bench) -> None:
    bench.reservations.cordon(REGION, "maintenance")
    bench.inventory.touch()
    assert _failure(bench.run()).code is FailureCode.CORDONED


@pytest.mark.parametrize(
    ("region_id", "code"),
    [
        ("0000:3b:00.0-r7", FailureCode.REGION_UNKNOWN),
        ("0000:99:00.0-r0", FailureCode.CARD_MISSING),
    ],
)
def test_an_unknown_region_is_never_written(
    bench: Bench, region_id: str, code: FailureCode
) -> None:
    assert _failure(bench.run(region_id=region_id)).code is code


def test_bytes_with_another_digest_are_dropped_and_never_written(bench: Bench) -> None:
    bench.bitstreams.content = b"something else"
    failure = _failure(bench.run())
    assert failure.code is FailureCode.DIGEST_MISMATCH
    assert bench.bitstreams.dropped == [failure.expected]
    assert bench.programmer.states_seen == []


def _all_events(bench: Bench) -> tuple[OperationEvent, ...]:
    wait_for(lambda: isinstance(bench.operations.find("load-1.1"), StoredOperation))
    stored = bench.operations.find("load-1.1")
    assert isinstance(stored, StoredOperation)
    return stored.events
