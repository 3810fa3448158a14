"""Loads through a real queue, worker and reconciler to an agent that misbehaves on request."""

from fpga_bitstream_manager.tasks.app import RUN_LOAD, make_app
from fpga_common.domain.load import AttemptOutcome, LoadState
from fpga_common.domain.operation import Failure, FailureCode
from fpga_common.testing.waiting import wait_for
from support.loads_bench import DEVICE, NEW_AFU, BenchNode, ends_of
from support.node_agent_double import NodeAgentDouble

S = LoadState


def test_a_load_goes_from_the_request_to_a_verified_end(node: BenchNode) -> None:
    load = node.ask(deadline_seconds=60)
    detail = node.bench.wait_state(load.id, S.SUCCEEDED, S.FAILED)
    assert detail.state is S.SUCCEEDED, detail.error
    assert detail.afu_id == NEW_AFU
    states = list(dict.fromkeys(event.state for event in detail.history))
    assert states == [S.QUEUED, S.CLAIMED, S.PROGRAMMING, S.VERIFYING, S.SUCCEEDED]
    request = node.agent.operations[f"{load.id}.1"].request
    assert (request.node, request.region_id, request.attempt) == (node.name, DEVICE, 1)
    assert request.bitstream.interface_id
    assert abs(request.deadline_unix_ms - load.deadline_at.timestamp() * 1000) < 2


def test_a_region_that_shows_the_afu_already_is_not_programmed_unless_forced(
    node: BenchNode,
) -> None:
    for expected, force in ((1, False), (1, False), (2, True)):
        load = node.ask(force=force)
        assert node.bench.wait_state(load.id, S.SUCCEEDED, S.FAILED).state is S.SUCCEEDED
        assert len(node.agent.executed) == expected


def test_what_the_ledger_believes_to_be_loaded_is_checked_on_the_node(node: BenchNode) -> None:
    load = node.ask("old")
    node.bench.wait_state(load.id, S.SUCCEEDED)
    assert node.agent.executed == [f"{load.id}.1"]


def test_the_same_message_ten_times_programs_once(node: BenchNode) -> None:
    node.agent.gate.clear()
    load = node.ask()
    app = make_app(node.bench.settings)
    for _ in range(10):
        app.send_task(RUN_LOAD, (load.id,))
    node.bench.wait_state(load.id, S.CLAIMED)
    for _ in range(10):
        app.send_task(RUN_LOAD, (load.id,))
    node.agent.gate.set()
    detail = node.bench.wait_state(load.id, S.SUCCEEDED)
    follower = node.ask("other")
    node.bench.wait_state(follower.id, S.SUCCEEDED)
    assert node.agent.executed == [f"{load.id}.1", f"{follower.id}.1"]
    assert len(detail.attempts) == 1


def test_a_stream_that_breaks_is_settled_by_asking_the_node(node: BenchNode) -> None:
    node.agent.write_gate.clear()
    load = node.ask()
    node.bench.wait_state(load.id, S.PROGRAMMING)
    node.agent.cut_streams()
    node.agent.write_gate.set()
    detail = node.bench.wait_state(load.id, S.SUCCEEDED)
    assert node.agent.executed == [f"{load.id}.1"]
    assert len(detail.attempts) == 1


def test_a_node_that_is_away_is_tried_again_with_a_pause(node: BenchNode) -> None:
    node.agent.stop()
    load = node.ask()

    def tried() -> bool:
        error = node.bench.loads.get(load.id).error
        return error is not None and error.code is FailureCode.NODE_UNREACHABLE

    wait_for(tried, timeout=30)
    node.agent.start()
    detail = node.bench.wait_state(load.id, S.SUCCEEDED, timeout=60)
    assert detail.attempts[0].outcome is AttemptOutcome.ERROR


def test_an_agent_with_another_certificate_is_never_asked_to_program(node: BenchNode) -> None:
    node.agent.stop()
    impostor = NodeAgentDouble(node.name, node.bench.credentials)
    impostor.port = node.agent.port
    impostor.start()
    load = node.ask()
    wait_for(lambda: node.bench.loads.get(load.id).error is not None, timeout=30)
    impostor.stop()
    assert impostor.attached == []


def test_an_agent_of_another_node_refuses_and_the_load_fails(node: BenchNode) -> None:
    node.agent.node = "sim-b"
    load = node.ask()
    failed = node.bench.wait_state(load.id, S.FAILED, S.SUCCEEDED)
    assert failed.error is not None
    assert failed.error.code is FailureCode.WRONG_NODE
    assert node.agent.executed == []


def test_a_card_that_is_busy_makes_a_load_wait_and_then_run(node: BenchNode) -> None:
    node.agent.failures.append(Failure(FailureCode.CARD_BUSY, "another operation"))
    load = node.ask()
    detail = node.bench.wait_state(load.id, S.SUCCEEDED)
    assert S.WAITING in {event.state for event in detail.history}
    assert len(detail.attempts) == 2


def test_a_load_waits_for_a_pod_and_runs_when_the_node_reports_it_gone(node: BenchNode) -> None:
    node.hold("trainer")
    load = node.ask()
    node.bench.wait_state(load.id, S.WAITING)
    assert node.agent.executed == []
    node.hold(None)
    node.bench.loads.node_changed(node.name)
    node.bench.wait_state(load.id, S.SUCCEEDED)


def test_queued_loads_of_a_card_follow_each_other_without_the_reconciler(
    node: BenchNode,
) -> None:
    node.agent.gate.clear()
    loads = [node.ask(name, force=True) for name in ("new", "other", "new")]
    node.agent.gate.set()
    for load in loads:
        node.bench.wait_state(load.id, S.SUCCEEDED)
    assert node.agent.executed == [f"{load.id}.1" for load in loads]


def test_a_cancel_stops_what_has_not_begun_to_write(node: BenchNode) -> None:
    node.agent.gate.clear()
    load = node.ask()
    node.bench.wait_state(load.id, S.CLAIMED)
    wait_for(lambda: node.agent.executed, timeout=10)
    assert node.bench.loads.cancel(load.id, "tester").state is S.CANCELLING
    assert ends_of(node.bench.wait_state(load.id, S.CANCELLED)) == [S.CANCELLED]
    assert set(node.agent.cancels) == {f"{load.id}.1"}


def test_a_load_past_its_deadline_expires(node: BenchNode) -> None:
    node.hold("trainer")
    load = node.ask(deadline_seconds=0.5)
    node.bench.wait_state(load.id, S.EXPIRED)
