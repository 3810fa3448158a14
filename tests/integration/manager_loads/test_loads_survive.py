"""An accepted load reaches exactly one end, whatever is killed, restarted or emptied."""

import json

import pytest

from fpga_common.domain.load import AttemptOutcome, LoadState
from fpga_common.testing.waiting import wait_for
from support.loads_bench import LoadsBench, ends_of

S = LoadState


def test_a_load_accepted_while_redis_is_away_runs_when_redis_is_back(bench: LoadsBench) -> None:
    node = bench.add_node()
    worker, reconciler = bench.spawn("worker"), bench.spawn_ready("reconciler")
    load = node.ask()
    assert load.state is S.QUEUED
    wait_for(
        lambda: '"waiting_for_redis"' in worker.log.read_text(),
        timeout=60,
        what="the worker's words about Redis",
    )
    assert node.agent.executed == []
    bench.redis.start()
    bench.wait_state(load.id, S.SUCCEEDED)
    worker.require_running()
    reconciler.require_running()


def test_a_redis_that_lost_everything_loses_no_load(bench: LoadsBench) -> None:
    node = bench.add_node()
    bench.redis.start()
    load = node.ask()
    bench.redis.stop()
    bench.redis.start()
    bench.spawn_ready("worker")
    bench.spawn_ready("reconciler")
    bench.wait_state(load.id, S.SUCCEEDED, timeout=60)


def test_a_worker_goes_on_after_redis_was_restarted(bench: LoadsBench) -> None:
    node = bench.add_node()
    bench.redis.start()
    worker = bench.spawn_ready("worker")
    bench.redis.stop()
    wait_for(lambda: '"waiting_for_redis"' in worker.log.read_text(), timeout=30)
    bench.redis.start()
    bench.spawn_ready("reconciler")
    load = node.ask()
    bench.wait_state(load.id, S.SUCCEEDED)
    assert "Traceback" not in worker.log.read_text()


def test_a_worker_killed_while_programming_leaves_one_end_and_one_execution(
    bench: LoadsBench,
) -> None:
    node = bench.add_node()
    bench.redis.start()
    node.agent.write_gate.clear()
    worker = bench.spawn_ready("worker")
    load = node.ask()
    bench.wait_state(load.id, S.PROGRAMMING)
    worker.kill()
    bench.spawn_ready("reconciler")
    node.agent.write_gate.set()
    detail = bench.wait_state(load.id, S.SUCCEEDED, S.FAILED, timeout=60)
    assert detail.state is S.SUCCEEDED
    assert node.agent.executed == [f"{load.id}.1"]
    assert ends_of(detail) == [S.SUCCEEDED]
    assert [attempt.outcome for attempt in detail.attempts] == [AttemptOutcome.OK]


def test_a_worker_that_has_to_end_leaves_its_load_to_the_reconciler_at_once(
    bench: LoadsBench,
) -> None:
    node = bench.add_node()
    bench.redis.start()
    node.agent.write_gate.clear()
    worker = bench.spawn_ready("worker")
    load = node.ask()
    bench.wait_state(load.id, S.PROGRAMMING)
    assert worker.stop() == 0
    assert bench.loads.get(load.id).state is S.PROGRAMMING
    bench.spawn_ready("reconciler")
    node.agent.write_gate.set()
    assert ends_of(bench.wait_state(load.id, S.SUCCEEDED)) == [S.SUCCEEDED]
    assert node.agent.executed == [f"{load.id}.1"]


def test_an_attempt_that_the_node_never_heard_of_is_made_anew(bench: LoadsBench) -> None:
    node = bench.add_node()
    bench.redis.start()
    node.agent.gate.clear()
    worker = bench.spawn_ready("worker")
    load = node.ask()
    wait_for(lambda: f"{load.id}.1" in node.agent.executed, timeout=30)
    worker.kill()
    node.agent.operations.clear()
    bench.spawn_ready("reconciler")
    bench.spawn_ready("worker")
    node.agent.gate.set()
    detail = bench.wait_state(load.id, S.SUCCEEDED, timeout=60)
    assert [attempt.outcome for attempt in detail.attempts] == [
        AttemptOutcome.LOST,
        AttemptOutcome.OK,
    ]


def test_a_cancel_is_delivered_by_the_reconciler_while_redis_is_away(bench: LoadsBench) -> None:
    node = bench.add_node()
    bench.redis.start()
    node.agent.gate.clear()
    bench.spawn_ready("worker")
    load = node.ask()
    bench.wait_state(load.id, S.CLAIMED)
    wait_for(lambda: node.agent.executed, timeout=10)
    bench.redis.stop()
    bench.loads.cancel(load.id, "tester")
    bench.spawn_ready("reconciler")
    bench.wait_state(load.id, S.CANCELLED)


@pytest.mark.parametrize("part", ["worker", "reconciler"])
def test_a_process_ends_in_peace_while_redis_is_away(bench: LoadsBench, part: str) -> None:
    process = bench.spawn(part)
    words = {"worker": '"waiting_for_redis"', "reconciler": '"reconciler_acts"'}[part]
    wait_for(lambda: words in process.log.read_text(), timeout=60)
    process.terminate()
    assert process.wait(20) == 0


def test_of_two_reconcilers_one_acts_and_the_other_follows_it(bench: LoadsBench) -> None:
    first = bench.spawn_ready("reconciler")
    second = bench.spawn("reconciler")
    second_log = second.log
    wait_for(lambda: second_log.read_text().count('"reconciler_started"') == 2, timeout=60)
    assert second_log.read_text().count('"reconciler_acts"') == 1
    assert first.stop() == 0
    wait_for(lambda: second_log.read_text().count('"reconciler_acts"') == 2, timeout=30)


def test_logs_are_json_without_banner_or_secret(bench: LoadsBench) -> None:
    node = bench.add_node()
    bench.redis.start()
    worker = bench.spawn_ready("worker")
    load = node.ask()
    bench.wait_state(load.id, S.SUCCEEDED)
    assert worker.stop() == 0
    text = worker.log.read_text()
    assert (bench.credentials / "redis-password").read_text() not in text
    lines = [json.loads(line) for line in text.splitlines()]
    settled = [line for line in lines if line["event"] == "load_settled"]
    assert [line["load"] for line in settled] == [load.id]
    assert not [line for line in lines if line["level"] in ("warning", "error")]
