"""Rules that hold for every route, and the pieces of the API that are pure."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from apiflask import APIFlask
from openapi_spec_validator import validate
from pydantic import TypeAdapter

import openapi_document
from fpga_bitstream_manager.api.app import create_app
from fpga_bitstream_manager.api.bitstreams import InvalidContentDigest, announced_digest
from fpga_bitstream_manager.api.guard import public, require_guards
from fpga_bitstream_manager.api.pagination import InvalidCursor, PageQuery
from fpga_bitstream_manager.api.problems import help_of, known_codes
from fpga_bitstream_manager.services import Services
from support.manager_services import ADMIN, SetClock, open_services

PUBLIC = {"/healthz", "/readyz", "/metrics", "/problems/", "/problems/<code>"}


NAME_KEY = TypeAdapter(tuple[str])


class NamedQuery(PageQuery):
    name: str | None = None


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    own = open_services(tmp_path, SetClock())
    yield own
    own.close()


@pytest.fixture
def app(services: Services) -> APIFlask:
    return create_app(services)


def test_only_health_metrics_help_and_the_document_are_open_to_anybody(app: APIFlask) -> None:
    web = app.test_client()
    for rule in app.url_map.iter_rules():
        if rule.rule in PUBLIC | {"/api/v1/openapi.json"}:
            continue
        path = rule.rule.replace("<", "").replace(">", "")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            assert web.open(path, method=method).status_code == 401, f"{method} {rule.rule}"


def test_a_view_without_a_guard_stops_the_app_from_starting(app: APIFlask) -> None:
    app.add_url_rule("/forgotten", view_func=lambda: "", endpoint="forgotten")

    with pytest.raises(RuntimeError, match="forgotten"):
        require_guards(app)


def test_what_breaks_is_a_problem_that_tells_nothing_of_the_inside(app: APIFlask) -> None:
    @public
    def broken() -> str:
        raise KeyError("secret inside")

    app.add_url_rule("/broken", view_func=broken)

    answer = app.test_client().get("/broken")

    assert (answer.status_code, answer.get_json()["code"]) == (500, "internal_error")
    assert "secret inside" not in answer.text


def test_the_document_is_valid_and_its_names_are_clean() -> None:
    document = openapi_document.document()

    validate(document)
    names = document["components"]["schemas"]
    assert {"Node", "NodePage", "Device", "Bitstream", "Load", "Problem"} <= set(names)
    assert not [name for name in names if "." in name or "[" in name]


def test_every_refusal_in_the_document_is_a_problem() -> None:
    for path, methods in openapi_document.document()["paths"].items():
        for method, operation in methods.items():
            assert operation["security"] == [{"bearer": []}], f"{method} {path}"
            for status, response in operation["responses"].items():
                if status[0] not in "123":
                    assert list(response["content"]) == ["application/problem+json"]


def test_the_committed_document_is_current() -> None:
    assert openapi_document.PATH.read_text(encoding="utf-8") == openapi_document.text(), (
        "run: .venv/bin/python tools/openapi_document.py"
    )


def test_every_code_has_a_help_page(app: APIFlask) -> None:
    web = app.test_client()
    for code in known_codes():
        assert help_of(code)
        assert web.get(f"/problems/{code}").status_code == 200


def test_a_cursor_leads_to_the_page_behind_its_key() -> None:
    first = NamedQuery(limit=2, name="x")
    page = first.page(["a", "b", "c"], lambda item: [item])

    following = NamedQuery(limit=9, name="x", cursor=page.next_cursor)

    assert page.items == ["a", "b"]
    assert following.after(NAME_KEY) == ("b",)
    assert first.page(["a", "b"], lambda item: [item]).next_cursor is None


@pytest.mark.parametrize("cursor", ["", "!", "bm90IGpzb24=", "W10=", "WyJ4Il0=", "é"])
def test_a_made_up_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        NamedQuery(cursor=cursor).after(NAME_KEY)


def test_a_cursor_of_other_filters_is_refused() -> None:
    cursor = NamedQuery(name="x").cursor_after(["a"])

    with pytest.raises(InvalidCursor):
        NamedQuery(name="y", cursor=cursor).after(NAME_KEY)


def test_a_content_digest_is_read_beside_other_algorithms() -> None:
    digest = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    assert announced_digest(f"sha-512=:AAAA:, sha-256=:{digest}:") == empty
    assert announced_digest("sha-512=:AAAA:") is None
    assert announced_digest(None) is None


@pytest.mark.parametrize("header", ["sha-256=", "sha-256=:AAAA:", "sha-256=AAAA", "sha-256=:?:"])
def test_a_content_digest_that_is_none_is_refused(header: str) -> None:
    with pytest.raises(InvalidContentDigest):
        announced_digest(header)


def test_refusals_of_strangers_are_audited_but_cannot_fill_the_ledger(
    app: APIFlask, services: Services
) -> None:
    from sqlalchemy import func, select

    from fpga_bitstream_manager.ledger import AuditRow

    web = app.test_client()
    for _ in range(50):
        assert web.get("/api/v1/nodes").status_code == 401
    assert web.get("/api/v1/nodes", headers=ADMIN).status_code == 200

    with services.ledger.reading() as session:
        query = select(func.count()).where(AuditRow.outcome == "not_signed_in")
        assert 1 <= (session.scalar(query) or 0) <= 10
