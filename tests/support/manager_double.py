"""A real HTTP server in the manager's place: serves bitstreams to nodes and takes their reports."""

import json
import ssl
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from fpga_common.testing.waiting import wait_for

Document = dict[str, Any]


class ManagerDouble:
    """Answers on loopback; what was asked and told is kept."""

    def __init__(self, *, token: str, port: int = 0, tls: tuple[Path, Path] | None = None) -> None:
        self.token = token
        self.bitstreams: dict[str, bytes] = {}
        self.fetched: list[str] = []
        self.reports: list[Document] = []
        self.full_report_wanted = False
        self.status = HTTPStatus.OK
        self.hold = threading.Event()
        self._server = _Server(("127.0.0.1", port), _handler(self))
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="manager-double", daemon=True
        )

    def serve_bitstream(self, digest: str) -> tuple[HTTPStatus, bytes]:
        """Answer a fetch, once ``hold`` is not set."""
        self.fetched.append(digest)
        if self.hold.is_set():
            wait_for(lambda: not self.hold.is_set(), timeout=60.0)
        content = self.bitstreams.get(digest)
        if content is None:
            return HTTPStatus.NOT_FOUND, b"no such bitstream"
        return self.status, content

    def wait_for_report(
        self, wanted: Callable[[Document], object], timeout: float = 10.0
    ) -> Document:
        """The first report or heartbeat for which ``wanted`` holds."""
        return wait_for(
            lambda: next((report for report in list(self.reports) if wanted(report)), None),
            timeout=timeout,
            what="a report",
        )

    def __enter__(self) -> "ManagerDouble":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join(10.0)
        self._server.server_close()


def is_full(report: Document) -> bool:
    """Whether it is a whole report and not a heartbeat."""
    return "inventory" in report


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        del request, client_address


def _handler(manager: ManagerDouble) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self._authorised():
                digest = self.path.removeprefix("/internal/v1/bitstreams/").replace("%3A", ":")
                self._answer(*manager.serve_bitstream(digest))

        def do_PUT(self) -> None:
            if self._authorised():
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if manager.status is HTTPStatus.OK:
                    manager.reports.append({**json.loads(body), "path": self.path})
                answer = {"accepted": True, "full_report_wanted": manager.full_report_wanted}
                self._answer(manager.status, json.dumps(answer).encode())

        def _authorised(self) -> bool:
            if self.headers["Authorization"] == f"Bearer {manager.token}":
                return True
            self._answer(HTTPStatus.UNAUTHORIZED, b"who are you")
            return False

        def _answer(self, status: HTTPStatus, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
            del format, arguments

    return Handler
