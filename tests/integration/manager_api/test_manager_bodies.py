"""Bodies that end early, never end, or are no HTTP, against a real API process."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fpga_common.client import ManagerClient
from fpga_common.testing.sim import make_gbs
from support.running_manager import ADMIN_TOKEN, RunningManager

INTERFACE = "a5d72a3cc8b04939912cf715e5dc10ca"
UPLOAD = (
    "POST /api/v1/bitstreams?name=cut HTTP/1.1\r\nHost: manager\r\n"
    f"Authorization: Bearer {ADMIN_TOKEN}\r\nContent-Type: application/octet-stream\r\n"
).encode()


@contextmanager
def connected(manager: RunningManager) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", manager.port), timeout=20) as connection:
        yield connection


def answer_to(manager: RunningManager, sent: bytes, *, hang_up: bool = False) -> tuple[int, str]:
    """Status and problem code of what comes back within 20 s."""
    with connected(manager) as connection:
        connection.sendall(sent)
        if hang_up:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65536):
            received += part
            head, found, body = received.partition(b"\r\n\r\n")
            if found and len(body) >= _length(head):
                break
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["code"]


def _length(head: bytes) -> int:
    for line in head.lower().splitlines():
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


def stored(client: ManagerClient) -> list[str]:
    return [found.digest for found in client.bitstreams(name="cut")]


@pytest.mark.parametrize("missing", [1, 100, 60_000])
def test_an_upload_whose_connection_ends_early_stores_nothing(
    client: ManagerClient, manager: RunningManager, missing: int
) -> None:
    content = make_gbs(INTERFACE, f"{missing:032x}")
    head = UPLOAD + f"Content-Length: {len(content)}\r\n\r\n".encode()

    assert answer_to(manager, head + content[:-missing], hang_up=True) == (400, "bad_request")

    assert stored(client) == []
    assert not list((manager.store / "incoming").iterdir())


@pytest.mark.parametrize("ending", [b"", b"zz\r\nabc\r\n", b"5\r\nabc"])
def test_a_chunked_upload_that_breaks_off_stores_nothing(
    client: ManagerClient, manager: RunningManager, ending: bytes
) -> None:
    content = make_gbs(INTERFACE, "7" * 32)
    chunk = f"{len(content):x}\r\n".encode() + content + b"\r\n"
    head = UPLOAD + b"Transfer-Encoding: chunked\r\n\r\n"

    status, code = answer_to(manager, head + chunk + ending, hang_up=True)

    assert (status, code) in {(400, "bad_request"), (400, "broken_body")}
    assert stored(client) == []
    assert "request_broke" not in manager.log()


def test_a_stranger_who_stops_sending_is_answered_and_keeps_no_thread(
    manager: RunningManager,
) -> None:
    head = b"POST /api/v1/loads HTTP/1.1\r\nHost: manager\r\nContent-Length: 1000\r\n\r\nabc"

    assert answer_to(manager, head) == (401, "not_signed_in")


def test_a_file_announced_as_too_large_is_refused_before_it_is_sent(
    manager: RunningManager,
) -> None:
    head = UPLOAD + b"Content-Length: 99999999999999\r\n\r\nabc"

    assert answer_to(manager, head) == (413, "bitstream_too_large")


@pytest.mark.parametrize(
    ("sent", "refused"),
    [
        (b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n\r\n", (414, "uri_too_long")),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 9000 + b"\r\n\r\n", (431, "headers_too_large")),
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", (400, "bad_request")),
    ],
)
def test_what_is_no_request_is_refused_with_a_problem(
    manager: RunningManager, sent: bytes, refused: tuple[int, str]
) -> None:
    assert answer_to(manager, sent) == refused


@pytest.mark.parametrize("number", ["9" * 30, "9" * 5000, "-1", "x", "1.0"])
def test_an_event_number_that_no_stream_has_is_refused(
    manager: RunningManager, number: str
) -> None:
    head = (
        f"GET /api/v1/loads/none/events HTTP/1.1\r\nHost: manager\r\n"
        f"Authorization: Bearer {ADMIN_TOKEN}\r\nLast-Event-ID: {number}\r\n\r\n"
    )
    assert answer_to(manager, head.encode())[0] in (400, 404)
