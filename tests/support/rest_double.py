"""A small HTTP server that answers REST calls as the manager does, from data that a test sets.

Real sockets and the contract's models; no ledger, no rules. A load goes through the steps of its
script: the event stream sends them all, each question for the load moves it one step on.
"""

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import BaseModel

from fpga_common.contract.access import Role, WhoAmI
from fpga_common.contract.bitstreams import Bitstream
from fpga_common.contract.loads import Load, LoadCreate, LoadDetail, LoadEvent, LoadEventMessage
from fpga_common.contract.nodes import Device, Node
from fpga_common.contract.problem import Problem
from fpga_common.domain.load import LoadState
from support.rest_samples import (
    DIGEST,
    LOAD_ID,
    NOW,
    QUEUED,
    SUCCEEDS,
    Step,
    a_bitstream,
    a_load,
    a_problem,
)

TOKEN = "double-token-3f9a"
UNKNOWN = a_problem("not_found", 404, "there is no such thing")
UNAUTHENTICATED = a_problem("unauthenticated", 401, "the token is not known")

Result = BaseModel | Iterable[BaseModel] | None


@dataclass(frozen=True, slots=True)
class Received:
    """A request as the server got it; names of headers in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class Answers:
    """What the double answers; tests change it at any time.

    ``stream_breaks_after`` cuts the connection after that many events.
    """

    nodes: list[Node] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)
    bitstreams: list[Bitstream] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    script: tuple[Step, ...] = SUCCEEDS
    at_step: int = -1
    stream_breaks_after: int | None = None
    problems: dict[tuple[str, str], Problem] = field(default_factory=dict)
    raw: dict[tuple[str, str], bytes] = field(default_factory=dict)

    def advance(self) -> LoadDetail:
        """Move the load one step on and return it."""
        self.at_step = min(self.at_step + 1, len(self.script) - 1)
        return self.detail()

    def detail(self) -> LoadDetail:
        """The load with its history so far."""
        done = self.script[: self.at_step + 1]
        history = [_event(number, step) for number, step in enumerate(done, start=1)]
        return LoadDetail(**self.load().model_dump(), history=history)

    def load(self) -> Load:
        """The load where it is now."""
        return a_load(QUEUED if self.at_step < 0 else self.script[self.at_step])


class RestDouble:
    """The server; a context manager. ``received`` has every request, oldest first."""

    def __init__(self) -> None:
        self.answers = Answers()
        self.received: list[Received] = []
        handler = type("Handler", (_Handler,), {"double": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="rest-double", daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "RestDouble":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def refuse(self, method: str, path: str, problem: Problem) -> None:
        """Answer that request with a problem from now on."""
        self.answers.problems[method, path] = problem

    def requests(self, method: str, path: str) -> list[Received]:
        """The requests with that method and path."""
        return [one for one in self.received if (one.method, one.path) == (method, path)]


def _event(sequence: int, step: Step) -> LoadEvent:
    return LoadEvent(
        sequence=sequence,
        at=NOW + timedelta(seconds=sequence),
        state=step.state,
        attempt=1,
        phase=step.phase,
        percent=step.percent,
        message=step.message,
        actor="worker",
    )


class _Handler(BaseHTTPRequestHandler):
    double: RestDouble

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay silent."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        request, answers = self._receive(), self.double.answers
        key = (request.method, request.path)
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            self._problem(UNAUTHENTICATED)
        elif key in answers.raw:
            self._send(200, "text/html", answers.raw[key])
        elif key in answers.problems:
            self._problem(answers.problems[key])
        elif request.path.endswith("/events"):
            self._stream()
        else:
            self._route(request)

    def _receive(self) -> Received:
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Received(
            method=self.command,
            path=unquote(parts.path),
            query=dict(parse_qsl(parts.query)),
            headers=headers,
            body=self.rfile.read(int(headers.get("content-length", "0"))),
        )
        self.double.received.append(request)
        return request

    def _route(self, request: Received) -> None:
        route = self._routes(request).get((request.method, request.path.removeprefix("/api/v1/")))
        if route is None:
            self._problem(UNKNOWN)
        else:
            self._result(route())

    def _routes(self, request: Received) -> dict[tuple[str, str], Callable[[], Result]]:
        answers = self.double.answers
        return {
            ("GET", "whoami"): lambda: WhoAmI(name="alice", role=Role.OPERATOR, source="token"),
            ("GET", "nodes"): lambda: answers.nodes,
            ("GET", "devices"): lambda: answers.devices,
            ("GET", "bitstreams"): lambda: answers.bitstreams,
            ("GET", "bitstreams/checksum"): lambda: a_bitstream("checksum"),
            ("POST", "bitstreams"): lambda: a_bitstream(request.query["name"]),
            ("DELETE", f"bitstreams/{DIGEST}"): lambda: None,
            ("GET", "loads"): lambda: answers.loads,
            ("POST", "loads"): lambda: _accepted(request.body),
            ("GET", f"loads/{LOAD_ID}"): answers.advance,
            ("POST", f"loads/{LOAD_ID}/cancel"): lambda: a_load(Step(LoadState.CANCELLING)),
            ("POST", f"loads/{LOAD_ID}/retry"): lambda: a_load(retry_of=LOAD_ID),
        }

    def _stream(self) -> None:
        answers = self.double.answers
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        if answers.stream_breaks_after is not None:
            self.send_header("Content-Length", "1000000")
        self.end_headers()
        self.wfile.write(b": ping\n\n")
        for _ in answers.script[: answers.stream_breaks_after]:
            detail = answers.advance()
            message = LoadEventMessage(load=answers.load(), event=detail.history[-1])
            data = message.model_dump_json()
            text = f"id: {message.event.sequence}\nevent: load\ndata: {data}\n\n"
            self.wfile.write(text.encode())

    def _result(self, result: Result) -> None:
        if result is None:
            self._send(204, "application/json", b"")
        elif isinstance(result, BaseModel):
            self._send(200, "application/json", result.model_dump_json(by_alias=True).encode())
        else:
            items = [item.model_dump(mode="json", by_alias=True) for item in result]
            page = json.dumps({"items": items, "next_cursor": None})
            self._send(200, "application/json", page.encode())

    def _problem(self, problem: Problem) -> None:
        content = problem.model_dump_json().encode()
        self._send(problem.status, "application/problem+json", content)

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _accepted(body: bytes) -> Load:
    LoadCreate.model_validate_json(body)
    return a_load()
