"""Loads as callers see them: a real API, queue, worker and reconciler."""

import json
import shutil
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from fpga_common.client.errors import ManagerProblem
from fpga_common.client.manager import ManagerClient
from fpga_common.contract.access import Role, TokenCreate
from fpga_common.contract.loads import LoadCreate, LoadTarget
from fpga_common.domain.load import LoadState
from fpga_common.testing.waiting import wait_for
from support.loads_bench import (
    DEVICE,
    INTERFACE,
    NEW_AFU,
    BenchNode,
    LoadsBench,
    digest,
    short_root,
)

S = LoadState


@pytest.fixture(scope="module")
def served() -> Iterator[LoadsBench]:
    """A running bench with an API; nobody ends its processes."""
    root = short_root()
    try:
        with LoadsBench(root) as bench:
            bench.redis.start()
            for part in ("api", "worker", "reconciler"):
                bench.spawn_ready(part)
            yield bench
    finally:
        shutil.rmtree(root)


@pytest.fixture
def node(served: LoadsBench) -> Iterator[BenchNode]:
    node = served.add_node()
    yield node
    node.stop()


@pytest.fixture
def client(served: LoadsBench) -> Iterator[ManagerClient]:
    with served.client() as client:
        yield client


def wanted(node: BenchNode, bitstream: str = "new", **fields: Any) -> LoadCreate:
    target = LoadTarget(node=node.name, device=DEVICE)
    return LoadCreate(bitstream=bitstream, target=target, **fields)


def refusal(client: ManagerClient, load: LoadCreate, **options: Any) -> ManagerProblem:
    with pytest.raises(ManagerProblem) as refused:
        client.create_load(load, **options)
    return refused.value


def test_a_load_is_accepted_followed_and_ends_verified(
    node: BenchNode, client: ManagerClient
) -> None:
    load = client.create_load(wanted(node))
    assert load.state is S.QUEUED
    messages = list(client.watch_load(load.id))
    assert [message.event.sequence for message in messages] == list(range(1, len(messages) + 1))
    assert messages[-1].event.state is S.SUCCEEDED
    assert messages[-1].load.afu_id == NEW_AFU
    assert client.load(load.id).requested_by == "admin"


def test_the_answer_is_202_and_says_where_the_load_is(served: LoadsBench, node: BenchNode) -> None:
    token = (served.credentials / "admin-token").read_text()
    request = urllib.request.Request(  # noqa: S310
        f"{served.api_url}/api/v1/loads",
        data=wanted(node).model_dump_json().encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        body = json.load(answer)
        assert answer.status == 202
        assert answer.headers["Location"] == f"/api/v1/loads/{body['id']}"


def test_a_stream_resumes_behind_the_last_event(node: BenchNode, client: ManagerClient) -> None:
    load = client.create_load(wanted(node))
    every = [message.event.sequence for message in client.watch_load(load.id)]
    rest = [message.event.sequence for message in client.watch_load(load.id, last_event_id=3)]
    assert rest == every[3:]


def test_a_stream_is_woken_while_the_node_is_slow(node: BenchNode, client: ManagerClient) -> None:
    node.agent.write_gate.clear()
    load = client.create_load(wanted(node))
    for message in client.watch_load(load.id):
        if message.event.state is S.PROGRAMMING:
            node.agent.write_gate.set()
    assert client.load(load.id).state is S.SUCCEEDED


def test_a_bitstream_for_another_region_is_refused_at_once_with_both_ids(
    node: BenchNode, client: ManagerClient
) -> None:
    refused = refusal(client, wanted(node, "misfit"))
    assert (refused.status, refused.problem.code) == (409, "interface_mismatch")
    assert (refused.expected, refused.actual) == (INTERFACE, "1" * 32)
    assert list(client.loads(node=node.name)) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"bitstream": "nothing"}, "unknown_bitstream"),
        ({"target": LoadTarget(node="ghost", device=DEVICE)}, "unknown_node"),
        ({"device": "0000:99:00.0-r0"}, "unknown_device"),
    ],
)
def test_an_unknown_bitstream_node_or_device_is_404(
    node: BenchNode, client: ManagerClient, changes: dict[str, Any], code: str
) -> None:
    if "device" in changes:
        changes = {"target": LoadTarget(node=node.name, device=changes["device"])}
    refused = refusal(client, wanted(node).model_copy(update=changes))
    assert (refused.status, refused.problem.code) == (404, code)


def test_an_unknown_load_is_404_everywhere(client: ManagerClient) -> None:
    calls = (client.load, client.cancel_load, client.retry_load)
    for call in calls:
        with pytest.raises(ManagerProblem) as refused:
            call("0" * 24)
        assert (refused.value.status, refused.value.problem.code) == (404, "unknown_load")
    with pytest.raises(ManagerProblem) as refused:
        list(client.watch_load("0" * 24))
    assert refused.value.status == 404


def test_a_held_region_is_409_with_the_pod_s_name_to_those_who_will_not_wait(
    node: BenchNode, client: ManagerClient
) -> None:
    node.hold("trainer")
    refused = refusal(client, wanted(node, if_busy="fail"))
    assert (refused.status, refused.problem.code) == (409, "region_held")
    assert "default/trainer" in refused.problem.detail


def test_the_same_key_makes_one_load(node: BenchNode, client: ManagerClient) -> None:
    key = f"key-{node.name}"
    loads = [client.create_load(wanted(node), idempotency_key=key) for _ in range(3)]
    assert len({load.id for load in loads}) == 1
    assert len(list(client.loads(node=node.name))) == 1
    refused = refusal(client, wanted(node, "other"), idempotency_key=key)
    assert (refused.status, refused.problem.code) == (422, "idempotency_key_reused")


def test_the_same_key_tries_again_once(node: BenchNode, client: ManagerClient) -> None:
    load = client.create_load(wanted(node))
    list(client.watch_load(load.id))
    tried = [client.retry_load(load.id, idempotency_key=f"again-{load.id}") for _ in range(3)]
    assert {one.id for one in tried} == {tried[0].id}
    assert len(list(client.loads(node=node.name))) == 2


def test_force_is_for_administrators(
    served: LoadsBench, node: BenchNode, client: ManagerClient
) -> None:
    token = client.create_token(TokenCreate(name=node.name, role=Role.OPERATOR))
    with ManagerClient(served.api_url, token.secret) as operator:
        assert refusal(operator, wanted(node, force=True)).status == 403
        assert operator.create_load(wanted(node)).state is S.QUEUED


def test_a_viewer_sees_loads_and_may_not_ask_for_one(
    served: LoadsBench, node: BenchNode, client: ManagerClient
) -> None:
    load = client.create_load(wanted(node))
    token = client.create_token(TokenCreate(name=node.name, role=Role.VIEWER))
    with ManagerClient(served.api_url, token.secret) as viewer:
        assert viewer.load(load.id).id == load.id
        assert refusal(viewer, wanted(node)).status == 403


def test_a_running_load_is_cancelled_and_tried_again(
    served: LoadsBench, node: BenchNode, client: ManagerClient
) -> None:
    node.agent.gate.clear()
    load = client.create_load(wanted(node))
    wait_for(lambda: node.agent.executed, timeout=30)
    client.cancel_load(load.id)
    served.wait_state(load.id, S.CANCELLED)
    node.agent.gate.set()
    again = client.retry_load(load.id)
    assert again.retry_of == load.id
    served.wait_state(again.id, S.SUCCEEDED)


def test_loads_are_listed_newest_first_page_by_page_and_filtered(
    served: LoadsBench, node: BenchNode, client: ManagerClient
) -> None:
    ids = [client.create_load(wanted(node, name)).id for name in ("new", "other", "new")]
    for load_id in ids:
        served.wait_state(load_id, S.SUCCEEDED)

    def listed(**filters: str | int) -> list[str]:
        return [load.id for load in client.loads(node=node.name, **filters)]

    assert listed(limit=1) == ids[::-1]
    assert listed(bitstream="other") == listed(bitstream=digest("c")) == [ids[1]]
    assert listed(state="failed") == []
    with pytest.raises(ManagerProblem) as refused:
        listed(colour="red")
    assert refused.value.status == 400


def test_while_redis_is_away_loads_are_accepted_and_streams_served(bench: LoadsBench) -> None:
    bench.spawn_ready("api")
    node = bench.add_node()
    with bench.client() as client:
        load = client.create_load(wanted(node, deadline_seconds=1))
        assert load.state is S.QUEUED
        bench.spawn_ready("reconciler")
        assert [one.event.state for one in client.watch_load(load.id)] == [S.QUEUED, S.EXPIRED]


def test_while_redis_hangs_loads_are_accepted_and_run_afterwards(bench: LoadsBench) -> None:
    bench.redis.start()
    for part in ("api", "worker", "reconciler"):
        bench.spawn_ready(part)
    node = bench.add_node()
    with bench.client() as client:
        with bench.redis.hanging():
            loads = [client.create_load(wanted(node)) for _ in range(3)]
            assert next(iter(client.watch_load(loads[0].id))).event.state is S.QUEUED
        for load in loads:
            bench.wait_state(load.id, S.SUCCEEDED, timeout=60)
