"""What a caller can send to hurt: each answer is a problem with a 4xx, and nothing breaks."""

from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from fpga_bitstream_manager.api.app import create_app
from fpga_bitstream_manager.api.audit import EventsQuery
from fpga_bitstream_manager.api.bitstreams import BitstreamsQuery
from fpga_bitstream_manager.api.connections import PatientSocket, refusal
from fpga_bitstream_manager.api.loads import LoadsQuery
from fpga_bitstream_manager.api.nodes import AllocationsQuery, DevicesQuery, NodesQuery
from fpga_bitstream_manager.api.pagination import PageQuery
from fpga_bitstream_manager.services import Services
from fpga_common.contract.problem import Problem
from support.manager_services import ADMIN, NODE, NODE_HEADERS, SetClock, open_services

LISTS: dict[str, type[PageQuery]] = {
    "allocations": AllocationsQuery,
    "bitstreams": BitstreamsQuery,
    "devices": DevicesQuery,
    "events": EventsQuery,
    "loads": LoadsQuery,
    "nodes": NodesQuery,
    "tokens": PageQuery,
}

FORGED: list[list[Any]] = [
    [],
    [None],
    [{}],
    [[]],
    [True],
    ["a", "b", "c", "d"],
    [10**30],
    [-1],
    ["a", "b", 10**30],
    ["2026-01-01T00:00:00", "x"],
    ["0001-01-01T00:00:00+14:00", "x"],
]


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    own = open_services(tmp_path, SetClock())
    yield own
    own.close()


@pytest.fixture
def web(services: Services) -> FlaskClient:
    return create_app(services).test_client()


@pytest.mark.parametrize("path", sorted(LISTS))
def test_a_forged_cursor_breaks_no_list(web: FlaskClient, path: str) -> None:
    statuses = []
    for key in FORGED:
        cursor = LISTS[path]().cursor_after(key)
        answer = web.get(f"/api/v1/{path}", query_string={"cursor": cursor}, headers=ADMIN)
        statuses.append(answer.status_code)

    assert set(statuses) <= {200, 400}
    assert statuses.count(400) >= len(FORGED) - 2  # one may have the list's own shape by chance


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 50_000 + b"]" * 50_000,
        b'{"name": "t", "role": "viewer", "expires_in_seconds": NaN}',
        b'{"name": "t", "role": "viewer", "expires_in_seconds": Infinity}',
        b'{"name": "\xff"}',
        b"{",
        b"",
    ],
)
def test_a_body_that_is_no_json_is_refused(web: FlaskClient, body: bytes) -> None:
    headers = ADMIN | {"Content-Type": "application/json"}
    answer = web.post("/api/v1/tokens", data=body, headers=headers)

    assert answer.status_code == 400
    assert answer.content_type == "application/problem+json"


@pytest.mark.parametrize(
    "changes",
    [
        {"expires_in_seconds": 1e300},
        {"expires_in_seconds": 1e12},
        {"expires_in_seconds": 0},
        {"name": "node:n1"},
        {"name": "a/b"},
        {"name": "\n"},
        {"name": "\u202e"},
    ],
)
def test_a_token_that_could_mislead_or_never_end_is_refused(
    web: FlaskClient, changes: dict[str, Any]
) -> None:
    answer = web.post(
        "/api/v1/tokens", json={"name": "t", "role": "viewer"} | changes, headers=ADMIN
    )

    assert answer.status_code == 422


@pytest.mark.parametrize("name", ["admin", "anonymous", "system", "fpga-platform"])
def test_no_token_takes_the_name_of_an_actor_that_is_no_token(web: FlaskClient, name: str) -> None:
    answer = web.post("/api/v1/tokens", json={"name": name, "role": "viewer"}, headers=ADMIN)

    assert (answer.status_code, answer.get_json()["code"]) == (409, "token_name_taken")


@pytest.mark.parametrize(
    "value", [":" + "A" * 44 + ":", "sha-256=:é:", "sha-256=::", "sha-256=AAAA"]
)
def test_a_content_digest_of_any_shape_is_no_mistake_of_the_manager(
    web: FlaskClient, value: str
) -> None:
    headers = ADMIN | {"Content-Type": "application/octet-stream", "Content-Digest": value}
    answer = web.post("/api/v1/bitstreams?name=x", data=b"x", headers=headers)

    assert answer.status_code in (400, 422)


@pytest.mark.parametrize(
    "text",
    [
        '"health": {"status": "healthy", "since": 1}, "numa_node": 1180591620717411303424',
        '"health": {"status": "healthy", "since": NaN}',
        '"health": {"status": "healthy", "since": 1e300}',
        '"health": {"status": "healthy", "since": 1}, "sensors": {"t": Infinity}',
    ],
)
def test_a_node_cannot_report_numbers_that_nobody_could_read(web: FlaskClient, text: str) -> None:
    card = f'{{"id": "c", "backend": "dfl", "model": "m", {text}}}'
    body = (
        f'{{"node": "{NODE}", "digest": "d", "reported_at": "2026-11-30T12:00:00Z",'
        f' "inventory": {{"cards": [{card}]}}}}'
    )
    answer = web.put(f"/internal/v1/nodes/{NODE}/report", data=body, headers=NODE_HEADERS)

    assert (answer.status_code, answer.get_json()["code"]) == (422, "invalid_report")


def test_a_time_outside_the_calendar_is_refused(web: FlaskClient) -> None:
    body = {
        "node": NODE,
        "digest": "d",
        "reported_at": "2026-11-30T12:00:00Z",
        "holders": [{"device": "d", "source": "open", "since": "0001-01-01T00:00:00+14:00"}],
    }
    answer = web.put(f"/internal/v1/nodes/{NODE}/report", json=body, headers=NODE_HEADERS)

    assert answer.status_code == 422


def test_a_socket_that_blocks_never_blocks_for_ever() -> None:
    with PatientSocket() as own:
        own.setblocking(True)
        assert own.gettimeout() == 5.0
        own.setblocking(False)
        assert own.gettimeout() == 0.0


def test_what_no_application_sees_is_refused_with_a_problem_too(web: FlaskClient) -> None:
    for status in (400, 414, 431, 500):
        head, _, body = refusal(HTTPStatus(status)).partition(b"\r\n\r\n")
        assert f"HTTP/1.1 {status} ".encode() in head
        assert b"application/problem+json" in head
        problem = Problem.model_validate_json(body)
        assert web.get(problem.type).status_code == 200
