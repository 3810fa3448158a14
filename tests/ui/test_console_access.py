"""Sign-in, cookies, forged requests, roles: over HTTP, as a browser would ask."""

import json
from http.cookies import SimpleCookie

import pytest
from flask import Flask
from flask.sessions import SecureCookieSessionInterface

from support import console_seed as seed
from support.console_manager import ADMIN_TOKEN, OPERATOR_TOKEN, VIEWER_TOKEN
from support.console_process import SECRET_KEY
from ui.conftest import Console

LOAD = "/devices/fpga-a/0000:5e:00.0-r0/load"


def _cookie(header: str) -> dict[str, str]:
    morsel = SimpleCookie(header)["fpga_console"]
    return {name: str(value) for name, value in morsel.items()} | {"value": morsel.value}


def _opened(value: str) -> dict[str, str]:
    app = Flask("test")
    app.secret_key = SECRET_KEY
    serializer = SecureCookieSessionInterface().get_signing_serializer(app)
    assert serializer is not None
    content: dict[str, str] = serializer.loads(value)
    return content


def test_sign_in_exchanges_the_token_for_a_session_in_a_cookie_that_scripts_cannot_read(
    console: Console,
) -> None:
    answer = console.client().post("/sign-in", data={"token": ADMIN_TOKEN})
    cookie = _cookie(answer.headers["Set-Cookie"])
    content = _opened(cookie["value"])

    assert answer.status_code == 303
    assert cookie["httponly"] == "True"
    assert cookie["samesite"] == "Lax"
    assert cookie["path"] == "/"
    assert cookie["secure"] == ""
    assert content["session"] in console.manager.sessions
    assert ADMIN_TOKEN not in json.dumps(content)


def test_the_cookie_is_secure_when_the_browser_came_by_tls(console: Console) -> None:
    client = console.client()
    client.headers["X-Forwarded-Proto"] = "https"
    client.headers["Sec-Fetch-Site"] = "same-origin"
    answer = client.post("/sign-in", data={"token": ADMIN_TOKEN})

    assert _cookie(answer.headers["Set-Cookie"])["secure"] == "True"
    assert "Strict-Transport-Security" in answer.headers


@pytest.mark.parametrize("token", ["nonsense", "", "two\nlines", "ключ", "x" * 5000])
def test_an_unknown_token_is_refused_and_leaves_nobody_signed_in(
    console: Console, token: str
) -> None:
    client = console.client()
    answer = client.post("/sign-in", data={"token": token})

    assert answer.status_code == 401
    assert "Not signed in." in answer.text
    assert client.get("/").headers["Location"] == "/sign-in"
    assert console.manager.sessions == {}


def test_the_token_is_in_no_page_and_no_log(console: Console) -> None:
    client = console.signed_in()
    pages = [client.get(path).text for path in ("/", "/devices", "/loads", "/nodes")]

    assert not any(ADMIN_TOKEN in page for page in pages)
    assert ADMIN_TOKEN not in console.process.log.read_text()
    assert not any(
        session in console.process.log.read_text() for session in console.manager.sessions
    )


def test_sign_out_ends_the_session_at_the_manager_too(console: Console) -> None:
    client = console.signed_in()
    assert console.manager.sessions
    answer = client.post("/sign-out")

    assert answer.headers["Location"] == "/sign-in"
    assert console.manager.sessions == {}
    assert client.get("/").status_code == 303


@pytest.mark.parametrize(
    ("wanted", "location"),
    [
        ("/devices?node=fpga-a", "/devices?node=fpga-a"),
        ("https://elsewhere.example/", "/"),
        ("//elsewhere.example/", "/"),
        ("/\\elsewhere.example/", "/"),
        ("/\t/elsewhere.example", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_sign_in_leads_back_to_a_page_of_ours_only(
    console: Console, wanted: str, location: str
) -> None:
    answer = console.client().post("/sign-in", data={"token": ADMIN_TOKEN, "next": wanted})
    assert answer.headers["Location"] == location


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": ""},
    ],
    ids=str,
)
def test_a_request_that_another_site_made_is_refused_and_does_nothing(
    console: Console, headers: dict[str, str]
) -> None:
    client = console.signed_in()
    before = len(console.manager.loads)
    form = {"bitstream": seed.digest(2)}

    assert client.post(LOAD, data=form, headers=headers).status_code == 403
    assert client.post("/sign-out", headers=headers).status_code == 403
    assert len(console.manager.loads) == before
    assert console.manager.sessions


def test_a_request_that_does_not_say_where_it_comes_from_is_refused(console: Console) -> None:
    client = console.signed_in()
    del client.headers["Origin"]
    assert client.post(LOAD, data={"bitstream": seed.digest(2)}).status_code == 403


def test_who_is_not_signed_in_is_sent_to_the_form_and_back(console: Console) -> None:
    answer = console.client().get("/devices?health=unhealthy")
    assert answer.headers["Location"] == "/sign-in?next=/devices?health%3Dunhealthy"


def test_a_fragment_without_a_session_sends_the_whole_page_to_the_form(console: Console) -> None:
    answer = console.client().get("/devices", headers={"HX-Request": "true"})
    assert answer.status_code == 204
    assert answer.headers["HX-Redirect"].startswith("/sign-in")


def test_a_session_that_the_manager_ended_asks_to_sign_in_again(console: Console) -> None:
    client = console.signed_in()
    console.manager.sessions.clear()
    answer = client.get("/devices")

    assert answer.status_code == 303
    assert "Your session has ended" in client.get(answer.headers["Location"]).text


def test_a_forged_cookie_signs_nobody_in(console: Console) -> None:
    client = console.client()
    client.cookies.set("fpga_console", "eyJzZXNzaW9uIjoieCJ9.aaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbbbb")
    assert client.get("/").headers["Location"] == "/sign-in"


def test_a_viewer_sees_no_button_that_would_fail(console: Console) -> None:
    client = console.signed_in(VIEWER_TOKEN)
    device = client.get("/devices/fpga-a/0000:5e:00.0-r0").text
    load = client.get(f"/loads/{console.manager.loads[0].id}").text

    assert "Continue" not in device
    assert "Your role may look, not load" in device
    assert 'id="cancel"' not in load
    assert "multipart/form-data" not in client.get("/bitstreams").text


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"{LOAD}?bitstream={seed.digest(2)}"),
        ("POST", LOAD),
        ("POST", "/bitstreams"),
        ("POST", "/loads/0198f3c9a41c7d2e9b600009/cancel"),
        ("POST", "/loads/0198f3c4a41c7d2e9b600004/retry"),
    ],
)
def test_a_viewer_who_asks_nevertheless_is_refused(
    console: Console, method: str, path: str
) -> None:
    client = console.signed_in(VIEWER_TOKEN)
    answer = client.request(
        method, path, data={"bitstream": seed.digest(2)} if method == "POST" else None
    )
    assert answer.status_code == 403


def test_an_operator_may_load(console: Console) -> None:
    client = console.signed_in(OPERATOR_TOKEN)
    assert client.post(LOAD, data={"bitstream": seed.digest(2)}).status_code == 303
    assert console.manager.loads[0].requested_by == "ops"


@pytest.mark.parametrize(
    "path", ["/", "/sign-in", "/devices", "/nothing-here", "/static/app.js", "/healthz"]
)
def test_every_answer_has_the_security_headers(console: Console, path: str) -> None:
    answer = console.signed_in().get(path)
    policy = answer.headers["Content-Security-Policy"]

    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert answer.headers["X-Frame-Options"] == "DENY"


def test_pages_are_never_stored_and_named_files_are_kept(console: Console) -> None:
    client = console.signed_in()
    page = client.get("/devices")
    script = page.text.split('<script src="')[-1].split('"')[0]

    assert page.headers["Cache-Control"] == "no-store"
    assert "immutable" in client.get(script).headers["Cache-Control"]
    assert client.get("/static/app.js").headers["Cache-Control"] == "no-cache"
