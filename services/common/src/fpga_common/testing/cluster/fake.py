"""The fake API server: real HTTP on loopback in front of ``state``."""

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from fpga_common.testing.cluster.state import (
    ClusterState,
    FakeNode,
    FakePod,
    FakeToken,
    Json,
    Refusal,
)

_PATCHES: Final = (
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)


class FakeCluster:
    """A cluster that knows what it was told.

    ``token`` is the manager's own. ``away`` makes every answer a 503, ``forbidden`` holds
    ``(verb, resource)`` pairs that the manager has no right to.
    """

    def __init__(self, *, token: str = "manager-token") -> None:  # noqa: S107
        self.token = token
        self.away = False
        self.forbidden: set[tuple[str, str]] = set()
        self.requests: list[tuple[str, str]] = []
        self._state = ClusterState()
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="fake-cluster", daemon=True
        )

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def nodes(self) -> dict[str, FakeNode]:
        """Nodes by name."""
        return self._state.nodes

    @property
    def events(self) -> list[Json]:
        """Every Event that was created, oldest first."""
        return self._state.events

    def start(self) -> "FakeCluster":
        """Answer."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def add_node(self, name: str, **labels: str) -> FakeNode:
        """Another node."""
        return self._state.nodes.setdefault(name, FakeNode(name, dict(labels)))

    def add_pod(self, pod: FakePod) -> FakePod:
        """Another pod."""
        self._state.pods[(pod.namespace, pod.name)] = pod
        return pod

    def delete_pod(self, namespace: str, name: str) -> None:
        """A pod less."""
        del self._state.pods[(namespace, name)]

    def add_token(self, secret: str, token: FakeToken) -> None:
        """A token that TokenReview knows."""
        self._state.tokens[secret] = token

    def allow(self, user: str, verb: str, resource: str, name: str | None = None) -> None:
        """Let ``user`` do something; ``resource`` is ``<plural>.<group>``."""
        self._state.allowed.add((user, verb, resource, name))

    def answer(self, method: str, path: str, body: Json) -> Json:
        """The answer to one request. Raises Refusal."""
        for verb, resource, known_method, pattern, call in self._routes():
            match = re.fullmatch(pattern, path)
            if match and method == known_method:
                if (verb, resource) in self.forbidden:
                    raise Refusal(403, "Forbidden", f"cannot {verb} {resource}")
                return call(*[unquote(part) for part in match.groups()], body)
        raise Refusal(404, "NotFound", f"the server does not serve {method} {path}")

    def _routes(self) -> tuple[tuple[str, str, str, str, Callable[..., Json]], ...]:
        state, one = self._state, "([^/]+)"
        return (
            (
                "create",
                "tokenreviews",
                "POST",
                "/apis/authentication.k8s.io/v1/tokenreviews",
                state.review_token,
            ),
            (
                "create",
                "subjectaccessreviews",
                "POST",
                "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                state.review_access,
            ),
            (
                "get",
                "nodes",
                "GET",
                f"/api/v1/nodes/{one}",
                lambda name, _body: state.read_node(name),
            ),
            ("patch", "nodes", "PATCH", f"/api/v1/nodes/{one}", state.patch_node),
            (
                "get",
                "pods",
                "GET",
                f"/api/v1/namespaces/{one}/pods/{one}",
                lambda namespace, name, _body: state.read_pod(namespace, name),
            ),
            (
                "create",
                "events",
                "POST",
                f"/api/v1/namespaces/{one}/events",
                state.create_event,
            ),
        )

    def __enter__(self) -> "FakeCluster":
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    """An HTTP server that belongs to one fake cluster."""

    daemon_threads = True

    def __init__(self, cluster: FakeCluster) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.cluster = cluster


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

    def _serve(self) -> None:
        cluster, path = self.server.cluster, urlsplit(self.path).path
        cluster.requests.append((self.command, path))
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self._require_served(cluster)
            answer = cluster.answer(self.command, path, json.loads(content or "{}"))
        except Refusal as refusal:
            self._send(refusal.status, _status(refusal))
        else:
            self._send(200, answer)

    def _require_served(self, cluster: FakeCluster) -> None:
        if cluster.away:
            raise Refusal(503, "ServiceUnavailable", "the API server is starting")
        if self.headers.get("Authorization") != f"Bearer {cluster.token}":
            raise Refusal(401, "Unauthorized", "Unauthorized")
        kind = self.headers.get("Content-Type", "")
        if self.command == "PATCH" and kind not in _PATCHES:
            raise Refusal(415, "UnsupportedMediaType", f"{kind} is not supported")

    def _send(self, status: int, answer: Json) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _status(refusal: Refusal) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Status",
        "status": "Failure",
        "reason": refusal.reason,
        "message": refusal.message,
        "code": refusal.status,
    }
