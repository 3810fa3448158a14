"""fpgactl and the client against servers that are no manager, or a broken one."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fpga_common.client import ManagerClient, ManagerUnavailable
from support.fpgactl_runs import Run


class Stranger(ThreadingHTTPServer):
    """Answers every GET with the same."""

    kind = "application/json"
    encoding = ""
    body = b""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Stranger

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", self.server.kind)
        if self.server.encoding:
            self.send_header("Content-Encoding", self.server.encoding)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    server = Stranger()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="stranger")
    thread.start()
    yield server
    server.shutdown()
    thread.join(10)
    server.server_close()


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"<html>hello</html>", ""),
        (b"[]", ""),
        (b'{"a": 1}', ""),
        (b"", ""),
        (b"\xff\xfe\x00", ""),
        (b"not compressed", "gzip"),
    ],
)
@pytest.mark.parametrize("command", [("devices",), ("loads", "watch", "x")])
def test_a_server_that_is_no_manager_is_named_in_one_line(
    run: Run, stranger: Stranger, command: tuple[str, ...], body: bytes, encoding: str
) -> None:
    stranger.body, stranger.encoding = body, encoding

    outcome = run("--url", stranger.url, *command)

    assert outcome.code == 3
    assert stranger.url in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_list_that_repeats_its_page_comes_to_an_end(stranger: Stranger) -> None:
    stranger.body = json.dumps({"items": [], "next_cursor": "same"}).encode()

    with ManagerClient(stranger.url) as client, pytest.raises(ManagerUnavailable, match="again"):
        list(client.devices())


def test_an_event_that_is_none_of_ours_ends_the_stream_with_a_failure(stranger: Stranger) -> None:
    stranger.kind = "text/event-stream"
    stranger.body = b"event: load\ndata: {}\n\n"

    with ManagerClient(stranger.url) as client, pytest.raises(ManagerUnavailable):
        list(client.watch_load("x"))
