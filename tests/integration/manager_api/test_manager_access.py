"""Tokens, sessions and roles, against a real API process."""

import sqlite3
import uuid

import httpx2
import pytest

from fpga_common.client import ManagerClient, ManagerProblem
from fpga_common.contract.access import Role, TokenCreate
from support.running_manager import RunningManager


def name() -> str:
    return f"t-{uuid.uuid4().hex[:8]}"


def rows(manager: RunningManager, query: str, *values: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(manager.folder / "ledger.db")
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def test_the_admin_token_comes_from_its_file(client: ManagerClient) -> None:
    caller = client.whoami()

    assert (caller.name, caller.role, caller.source) == ("admin", Role.ADMIN, "admin-token-file")


@pytest.mark.parametrize("header", ["", "Basic YTpi", "Bearer", "Bearer made-up"])
def test_without_a_valid_token_everything_is_401(manager: RunningManager, header: str) -> None:
    answer = httpx2.get(f"{manager.url}/api/v1/overview", headers={"Authorization": header})

    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert answer.json()["code"] == "not_signed_in"


def test_a_token_is_shown_once_and_stored_as_its_hash(
    client: ManagerClient, manager: RunningManager
) -> None:
    own = name()
    created = client.create_token(TokenCreate(name=own, role=Role.OPERATOR))

    with manager.client(created.secret) as as_token:
        assert as_token.whoami().role is Role.OPERATOR
    listed = {token.name: token for token in client.tokens()}
    assert listed[own].last_used_at is not None
    ledger = (manager.folder / "ledger.db").read_bytes()
    ledger += (manager.folder / "ledger.db-wal").read_bytes()
    assert created.secret.encode() not in ledger
    assert created.secret not in manager.log()


def test_a_deleted_token_ends_at_once_with_its_sessions(
    client: ManagerClient, manager: RunningManager
) -> None:
    created = client.create_token(TokenCreate(name=name(), role=Role.VIEWER))
    with manager.client(created.secret) as as_token:
        session = as_token.create_session()
        client.delete_token(created.name)
        with pytest.raises(ManagerProblem):
            as_token.whoami()
    with manager.client(session.session) as as_session, pytest.raises(ManagerProblem) as refused:
        as_session.whoami()
    assert refused.value.status == 401


def test_a_session_works_until_it_is_ended(manager: RunningManager, client: ManagerClient) -> None:
    session = client.create_session()

    with manager.client(session.session) as as_session:
        assert as_session.whoami().source == "session"
        with pytest.raises(ManagerProblem) as nested:
            as_session.create_session()
        as_session.end_session()
        with pytest.raises(ManagerProblem) as ended:
            as_session.whoami()
    assert nested.value.problem.code == "not_a_session"
    assert ended.value.status == 401


def test_a_session_of_the_admin_ends_when_the_token_file_changes(
    manager: RunningManager, client: ManagerClient
) -> None:
    session = client.create_session()
    before = manager.admin_token_file.read_text()
    manager.admin_token_file.write_text("another-admin-token")
    try:
        with manager.client(session.session) as as_session, pytest.raises(ManagerProblem):
            as_session.whoami()
    finally:
        manager.admin_token_file.write_text(before)


def test_a_name_is_taken_once(client: ManagerClient) -> None:
    own = name()
    client.create_token(TokenCreate(name=own, role=Role.VIEWER))

    for taken in (own, "admin"):
        with pytest.raises(ManagerProblem) as refused:
            client.create_token(TokenCreate(name=taken, role=Role.VIEWER))
        assert refused.value.problem.code == "token_name_taken"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_only_administrators_give_out_tokens(
    client: ManagerClient, manager: RunningManager, role: Role
) -> None:
    created = client.create_token(TokenCreate(name=name(), role=role))
    with manager.client(created.secret) as as_token:
        for attempt in (as_token.tokens, lambda: as_token.delete_token("x")):
            with pytest.raises(ManagerProblem) as refused:
                attempt()
            assert refused.value.problem.code == "role_too_low"
            assert (refused.value.problem.expected, refused.value.problem.actual) == (
                "admin",
                role.value,
            )


def test_changes_and_refusals_are_audited_with_actor_and_request(
    client: ManagerClient, manager: RunningManager
) -> None:
    own = name()
    created = client.create_token(TokenCreate(name=own, role=Role.VIEWER))
    headers = {"Authorization": f"Bearer {created.secret}", "X-Request-Id": f"r-{own}"}
    httpx2.delete(f"{manager.url}/api/v1/tokens/{own}", headers=headers)

    change = "SELECT actor, action, outcome FROM audit_events WHERE target = ?"
    refusal = "SELECT actor, outcome, target FROM audit_events WHERE request_id = ?"
    assert rows(manager, change, own) == [("admin", "token.create", "done")]
    assert rows(manager, refusal, f"r-{own}") == [(own, "role_too_low", f"/api/v1/tokens/{own}")]


def test_a_wrong_body_names_each_field_by_pointer(http: httpx2.Client) -> None:
    answer = http.post("/api/v1/tokens", json={"name": "", "role": "king", "colour": "red"})

    assert answer.status_code == 422
    pointers = {error["pointer"] for error in answer.json()["errors"]}
    assert pointers == {"/name", "/role", "/colour"}


def test_a_body_that_is_no_json_is_400(http: httpx2.Client) -> None:
    answer = http.post("/api/v1/tokens", content=b"{", headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")


def test_the_audit_log_lists_changes_and_refusals_newest_first(
    client: ManagerClient, manager: RunningManager
) -> None:
    own = name()
    secret = client.create_token(TokenCreate(name=own, role=Role.VIEWER)).secret
    with manager.client(secret) as viewer, pytest.raises(ManagerProblem) as refused:
        list(viewer.events())
    client.delete_token(own)

    found = [event for event in client.events(limit=2) if own in (event.target, event.actor)]

    assert refused.value.status == 403
    assert [(event.action, event.outcome) for event in found] == [
        ("token.delete", "done"),
        ("get audit.get_events", "role_too_low"),
        ("token.create", "done"),
    ]
    assert [event.id for event in found] == sorted((event.id for event in found), reverse=True)
    assert [event.action for event in client.events(actor=own)] == ["get audit.get_events"]
    created = [event.target for event in client.events(action="token.create", actor="admin")]
    assert created[0] == own
