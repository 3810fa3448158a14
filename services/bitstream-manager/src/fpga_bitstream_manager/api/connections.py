"""Gunicorn's threads with patience that ends: a silent client does not keep a thread.

Used by ``api.server``. A request that no application sees is refused with a problem document too.
"""

import socket
import ssl
from http import HTTPStatus
from typing import Any, Final

from gunicorn import util
from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine, ParseException
from gunicorn.workers.gthread import TConn, ThreadWorker

from fpga_bitstream_manager.api.problems import HTTP_CODES, MEDIA_TYPE, title_of
from fpga_common.contract.problem import Problem
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

#: Longest wait for the next bytes of a handshake or of a request's head, which come in one piece.
HEAD_SILENCE_SECONDS: Final = 5.0
#: Longest wait for the next bytes of a body, or for a client to take ours.
SILENCE_SECONDS: Final = 30.0


class PatientSocket(socket.socket):
    """A socket that blocks, but not for ever."""

    def setblocking(self, flag: bool) -> None:
        """Called by gunicorn, which knows blocking and non-blocking alone."""
        self.settimeout(HEAD_SILENCE_SECONDS if flag else 0.0)


class Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A connection whose handshake and heads of requests are not waited for without end."""

    def init(self) -> None:
        """Called by gunicorn before each request; makes the TLS socket before the first."""
        super().init()
        self.sock.settimeout(HEAD_SILENCE_SECONDS)


class PatientWorker(ThreadWorker):  # type: ignore[misc]
    """Gunicorn's threaded worker with our connections and our words."""

    def enqueue_req(self, conn: TConn) -> None:
        """Called by gunicorn for each new connection, and again for one that was kept alive."""
        if not isinstance(conn, Connection):
            own = PatientSocket(fileno=conn.sock.detach())
            conn = Connection(conn.cfg, own, conn.client, conn.server)
        super().enqueue_req(conn)

    def handle_request(self, req: Any, conn: Connection) -> Any:
        """Called by gunicorn once the head is there; body and answer get their own patience."""
        conn.sock.settimeout(SILENCE_SECONDS)
        return super().handle_request(req, conn)

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:
        """Called by gunicorn for what is no HTTP, and for what broke outside the application."""
        if isinstance(exc, ssl.SSLError):
            log.info("tls_refused", reason=str(exc))
            return
        status = refusal_of(exc)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            log.error("request_broke", exc_info=exc)
        util.write_nonblock(client, refusal(status))


def refusal_of(exc: Exception) -> HTTPStatus:
    """The status of a request that cannot be parsed, or that broke."""
    if isinstance(exc, LimitRequestLine):
        return HTTPStatus.REQUEST_URI_TOO_LONG
    if isinstance(exc, LimitRequestHeaders):
        return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    if isinstance(exc, ParseException):
        return HTTPStatus.BAD_REQUEST
    return HTTPStatus.INTERNAL_SERVER_ERROR


def refusal(status: HTTPStatus) -> bytes:
    """A whole response that ends the connection."""
    code = HTTP_CODES[status]
    problem = Problem(
        type=f"/problems/{code}",
        title=title_of(code),
        status=status.value,
        detail=status.description or status.phrase,
        code=code,
    )
    body = problem.model_dump_json().encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nConnection: close\r\n"
        f"Content-Type: {MEDIA_TYPE}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
