"""What surrounds every request: its id, its audit scope, its log line, its metrics, its headers."""

import re
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import structlog
from flask import Flask, Response, g, request
from gunicorn.http.errors import ParseException
from prometheus_client import CollectorRegistry, Counter, Histogram

from fpga_bitstream_manager.access.allowance import Allowance
from fpga_bitstream_manager.access.audit import Scope, current_scope, enter_scope, record
from fpga_bitstream_manager.api.context import request_id, services
from fpga_bitstream_manager.failures import BadRequest
from fpga_bitstream_manager.ledger import LedgerUnavailable
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

REQUEST_ID: Final = "X-Request-Id"
ANONYMOUS: Final = "anonymous"
UNMATCHED: Final = "unmatched"
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})
STRANGERS_A_MINUTE: Final = 10
CHUNK_BYTES: Final = 256 * 1024
READ_REST_SECONDS: Final = 10.0
REST_SILENCE_SECONDS: Final = 0.5
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})

_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")

HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
}


class RepeatedParameter(BadRequest):
    """A query parameter was given twice, and only one value can count."""

    code = "repeated_parameter"


class RequestMetrics:
    """Requests by route; the label's values are the app's own rules, never a caller's path."""

    def __init__(self, registry: CollectorRegistry) -> None:
        labels = ("method", "route", "status")
        self.requests = Counter(
            "fpga_manager_http_requests", "Requests answered.", labels, registry=registry
        )
        self.seconds = Histogram(
            "fpga_manager_http_request_seconds",
            "Time to the answer's first byte in seconds.",
            ("method", "route"),
            registry=registry,
        )

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        known = method if method in METHODS else "other"
        self.requests.labels(known, route, str(status)).inc()
        self.seconds.labels(known, route).observe(seconds)


def surround(app: Flask, metrics: RequestMetrics) -> None:
    """Do this module's work before and after every request of ``app``."""
    strangers = Allowance(STRANGERS_A_MINUTE, 60.0)
    app.before_request(_begin)
    app.before_request(_refuse_repeated_parameters)

    @app.after_request
    def finish(response: Response) -> Response:
        seconds = time.monotonic() - g.get("began", time.monotonic())
        route = request.url_rule.rule if request.url_rule else UNMATCHED
        metrics.observe(request.method, route, response.status_code, seconds)
        _log(route, response, seconds)
        _audit(response, strangers)
        if response.status_code >= 400:
            _read_rest()
        return _with_headers(response)


def _begin() -> None:
    given = request.headers.get(REQUEST_ID, "")
    g.request_id = given if _ID.fullmatch(given) else secrets.token_hex(8)
    g.began = time.monotonic()
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request=g.request_id)
    enter_scope(Scope(ANONYMOUS, g.request_id))


def _refuse_repeated_parameters() -> None:
    for name, values in request.args.lists():
        if len(values) > 1:
            raise RepeatedParameter(f"{name} was given {len(values)} times")


def _log(route: str, response: Response, seconds: float) -> None:
    write = log.debug if request.path in QUIET else log.info
    write(
        "http_request",
        method=request.method,
        route=route,
        path=request.path,
        status=response.status_code,
        seconds=round(seconds, 4),
        actor=current_scope().actor,
    )


def _audit(response: Response, strangers: Allowance) -> None:
    """Record refusals, and changes whose service recorded nothing itself.

    Whoever has no token may knock as often as he likes: he must not fill the ledger.
    """
    scope, status = current_scope(), response.status_code
    refused = status in (401, 403) or (status >= 400 and request.method not in SAFE)
    changed = status < 400 and request.method not in SAFE and request.path.startswith("/api/")
    away = g.get("problem_code") == LedgerUnavailable.code
    if scope.recorded or away or not (refused or changed):
        return
    if scope.actor == ANONYMOUS and not strangers.take():
        return
    outcome = g.get("problem_code", f"http_{status}") if refused else "done"
    action = f"{request.method.lower()} {request.endpoint or UNMATCHED}"[:64]
    try:
        with services().ledger.transaction() as session:
            record(session, services().clock, action, request.path, outcome=outcome)
    except LedgerUnavailable as error:
        log.warning("audit_not_recorded", action=action, outcome=outcome, reason=error.message)


def _read_rest() -> None:
    """Read what a refused client still sends: most clients look for an answer only afterwards.

    One that has stopped sending is answered at once.
    """
    deadline = time.monotonic() + READ_REST_SECONDS
    stream, connection = request.environ["wsgi.input"], request.environ.get("gunicorn.socket")
    with suppress(OSError, ParseException), _patience(connection, REST_SILENCE_SECONDS):
        while stream.read(CHUNK_BYTES) and time.monotonic() < deadline:
            continue


@contextmanager
def _patience(connection: socket.socket | None, seconds: float) -> Iterator[None]:
    """Wait ``seconds`` at most for each part that a client sends."""
    if connection is None:
        yield
        return
    before = connection.gettimeout()
    connection.settimeout(seconds)
    try:
        yield
    finally:
        connection.settimeout(before)


def _with_headers(response: Response) -> Response:
    response.headers[REQUEST_ID] = request_id()
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response
