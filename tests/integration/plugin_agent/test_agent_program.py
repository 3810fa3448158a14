"""Program over mutual TLS on simulated hardware, with a bitstream from a real HTTP server."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from fpga_common.domain.card import RegionState
from fpga_common.domain.operation import FailureCode
from fpga_common.testing.waiting import wait_for
from fpga_common.wire.agent.v1 import agent_pb2 as pb
from support.agent_doubles import PodHolder
from support.agent_node import CALL_SECONDS, NEW_AFU, NODE, AgentNode


def _program(node: AgentNode, request: pb.ProgramRequest) -> list[pb.ProgramEvent]:
    with node.stub() as agent:
        return list(agent.Program(request, timeout=CALL_SECONDS))


def _phases(events: Iterable[pb.ProgramEvent]) -> list[str]:
    names = [pb.Phase.Name(event.phase).removeprefix("PHASE_").lower() for event in events]
    return list(dict.fromkeys(names))


def _state(node: AgentNode) -> RegionState:
    found = node.store.snapshot().region(node.card.region_id)
    assert found is not None
    return found[1].state


def test_a_load_goes_through_every_phase_and_changes_the_card(node: AgentNode) -> None:
    node.card.set_programming_seconds(0.3)
    events = _program(node, node.request(node.upload()))

    assert _phases(events) == [
        "accepted",
        "fetching",
        "checking",
        "draining",
        "programming",
        "verifying",
        "done",
    ]
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert [event.percent for event in events] == sorted(event.percent for event in events)
    assert (events[-1].percent, events[-1].afu_id) == (100.0, NEW_AFU)
    assert node.card.afu_id == NEW_AFU
    assert _state(node) is RegionState.READY


def test_the_bar_moves_in_small_steps_while_the_card_is_written(node: AgentNode) -> None:
    node.card.set_programming_seconds(1.0)
    events = _program(node, node.request(node.upload()))
    percents = [event.percent for event in events if event.phase == pb.PHASE_PROGRAMMING]
    assert len(percents) > 10


def test_a_bitstream_is_fetched_once_for_several_loads(node: AgentNode) -> None:
    bitstream = node.upload()
    _program(node, node.request(bitstream))
    _program(node, node.request(bitstream, operation_id="load-2.1"))
    assert node.manager.fetched == [bitstream.digest]


def test_a_cached_file_that_changed_on_the_disk_is_never_written(node: AgentNode) -> None:
    bitstream = node.upload()
    _program(node, node.request(bitstream))
    (cached,) = (node.root / "state" / "bitstreams").iterdir()
    cached.write_bytes(b"x" * bitstream.size_bytes)
    before = node.card.afu_id

    failed = _program(node, node.request(bitstream, operation_id="load-2.1"))[-1]
    assert failed.failure.code == FailureCode.DIGEST_MISMATCH
    assert node.card.afu_id == before

    again = _program(node, node.request(bitstream, operation_id="load-2.2"))[-1]
    assert again.phase == pb.PHASE_DONE


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", FailureCode.DIGEST_MISMATCH),
        (b"short", FailureCode.DIGEST_MISMATCH),
        (None, FailureCode.FETCH_FAILED),
    ],
)
def test_a_manager_that_sends_something_else_is_told_apart(
    node: AgentNode, content: bytes | None, code: FailureCode
) -> None:
    bitstream = node.upload()
    if content is None:
        del node.manager.bitstreams[bitstream.digest]
    else:
        node.manager.bitstreams[bitstream.digest] = content
    assert _program(node, node.request(bitstream))[-1].failure.code == code
    assert list((node.root / "state" / "bitstreams").glob("*.part")) == []


def test_bytes_of_the_right_size_and_the_wrong_digest_are_refused(node: AgentNode) -> None:
    bitstream = node.upload()
    node.manager.bitstreams[bitstream.digest] = b"x" * bitstream.size_bytes
    failure = _program(node, node.request(bitstream))[-1].failure
    assert failure.code == FailureCode.DIGEST_MISMATCH
    assert failure.expected == bitstream.digest


def test_a_bitstream_for_another_interface_is_refused_with_both_ids(node: AgentNode) -> None:
    other = node.host.add_card("d5005")
    failure = _program(node, node.request(node.upload(other)))[-1].failure
    assert failure.code == FailureCode.INTERFACE_MISMATCH
    assert (failure.expected, failure.actual) == (node.card.interface_id, other.interface_id)
    assert not failure.retryable


def test_a_failing_card_is_quarantined_and_a_later_success_ends_that(node: AgentNode) -> None:
    node.card.fail_programming(FailureCode.PROGRAMMING_REJECTED)
    bitstream = node.upload()
    failed = _program(node, node.request(bitstream))[-1]
    assert failed.failure.code == FailureCode.PROGRAMMING_REJECTED
    assert failed.failure.retryable
    assert _state(node) is RegionState.QUARANTINED

    node.card.fail_programming(None)
    assert _program(node, node.request(bitstream, operation_id="load-1.2"))[-1].afu_id == NEW_AFU
    assert _state(node) is RegionState.READY


def test_another_afu_read_back_quarantines_the_region(node: AgentNode) -> None:
    node.card.read_back("ab" * 16)
    failure = _program(node, node.request(node.upload()))[-1].failure
    assert failure.code == FailureCode.VERIFICATION_MISMATCH
    assert (failure.expected, failure.actual) == (NEW_AFU, "ab" * 16)
    assert _state(node) is RegionState.QUARANTINED


def test_a_card_unplugged_while_written_is_missing(node: AgentNode) -> None:
    node.card.set_programming_seconds(0.5)
    with node.stub() as agent:
        stream = agent.Program(node.request(node.upload()), timeout=CALL_SECONDS)
        for event in stream:
            if event.phase == pb.PHASE_PROGRAMMING:
                node.card.unplug()
                break
        last = list(stream)[-1]
    assert last.failure.code == FailureCode.CARD_MISSING


def test_a_held_region_is_refused_naming_the_pod(node: AgentNode) -> None:
    node.kubelet.holder = PodHolder()
    failure = _program(node, node.request(node.upload()))[-1].failure
    assert failure.code == FailureCode.REGION_HELD
    assert "ml/trainer" in failure.message


def test_two_clients_of_one_operation_see_the_same_events(node: AgentNode) -> None:
    node.card.set_programming_seconds(0.5)
    request = node.request(node.upload())
    with node.stub() as agent:
        first = agent.Program(request, timeout=CALL_SECONDS)
        begun = next(first)
        second = list(agent.Program(request, timeout=CALL_SECONDS))
        assert [begun, *first] == second


def test_an_operation_outlives_the_client_that_asked_for_it(node: AgentNode) -> None:
    node.card.set_programming_seconds(0.3)
    request = node.request(node.upload())
    with node.stub() as agent:
        next(agent.Program(request, timeout=CALL_SECONDS))
    asked = pb.GetOperationRequest(node=NODE, operation_id=request.operation_id)
    with node.stub() as agent:
        wait_for(lambda: agent.GetOperation(asked, timeout=CALL_SECONDS).ended)
        operation = agent.GetOperation(asked, timeout=CALL_SECONDS)
    assert operation.last_event.phase == pb.PHASE_DONE
    assert operation.region_id == node.card.region_id


def test_another_operation_on_the_card_ends_at_once_as_busy(node: AgentNode) -> None:
    node.card.set_programming_seconds(1.0)
    bitstream = node.upload()
    with node.stub() as agent:
        next(agent.Program(node.request(bitstream), timeout=CALL_SECONDS))
        second = node.request(bitstream, operation_id="load-2.1")
        (event,) = list(agent.Program(second, timeout=CALL_SECONDS))
    assert event.failure.code == FailureCode.CARD_BUSY


def test_a_cancel_while_the_kubelet_holds_on_is_possible(node: AgentNode) -> None:
    node.kubelet.offers = 10**9
    request = node.request(node.upload())
    with node.stub() as agent:
        stream = agent.Program(request, timeout=CALL_SECONDS)
        for event in stream:
            if event.phase == pb.PHASE_DRAINING:
                break
        answer = agent.CancelOperation(
            pb.CancelOperationRequest(
                node=NODE, operation_id=request.operation_id, requested_by="grace"
            ),
            timeout=CALL_SECONDS,
        )
        assert answer.accepted
        assert list(stream)[-1].failure.code == FailureCode.CANCELLED
    assert _state(node) is RegionState.READY


def test_state_files_are_readable_by_their_owner_alone(node: AgentNode) -> None:
    _program(node, node.request(node.upload()))
    state = node.root / "state"
    folders = [path for path in (state, *state.rglob("*")) if path.is_dir()]
    assert {oct(path.stat().st_mode & 0o777) for path in folders} == {"0o700"}
    assert _mode(state / "agent" / "agent.key") == "0o600"


def _mode(path: Path) -> str:
    return oct(path.stat().st_mode & 0o777)
