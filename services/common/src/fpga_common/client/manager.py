"""One method a call of ``/api/v1``; lists follow cursors by themselves."""

import json
import ssl
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, ValidationError

from fpga_common.client.errors import ManagerProblem, ManagerUnavailable
from fpga_common.client.events import ServerSentEvent, parse_events
from fpga_common.contract.access import (
    AuditEvent,
    SessionCreated,
    Token,
    TokenCreate,
    TokenCreated,
    WhoAmI,
)
from fpga_common.contract.base import Page
from fpga_common.contract.bitstreams import Bitstream
from fpga_common.contract.loads import Load, LoadCreate, LoadDetail, LoadEventMessage
from fpga_common.contract.nodes import Allocation, Device, Node
from fpga_common.contract.problem import Problem
from fpga_common.contract.system import Overview, System

Model = TypeVar("Model", bound=BaseModel)
Params = dict[str, str | int | float | bool | None]


class ManagerClient:
    """Calls the manager as the owner of ``token`` (a token or a session).

    Every call raises ManagerUnavailable when there is no answer and ManagerProblem when the
    manager refuses. ``timeout`` is seconds for connecting and for each read.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        ca_file: Path | None = None,
        timeout: float = 30.0,
        headers: dict[str, str] | None = None,
        connections: httpx2.Client | None = None,
    ) -> None:
        sent = dict(headers or {})
        if token:
            sent["Authorization"] = f"Bearer {token}"
        self._url = url
        self._headers = sent
        self._timeout = timeout
        self._http = connections or httpx2.Client(
            base_url=url, timeout=timeout, verify=_verification(url, ca_file)
        )
        self._owns_http = connections is None

    def with_token(
        self,
        token: str | None,
        *,
        timeout: float | None = None,
        headers: dict[str, str] | None = None,
    ) -> "ManagerClient":
        """A client for another caller that shares this one's connections.

        Closing it closes nothing; ``timeout`` in seconds, by default this client's own.
        """
        return ManagerClient(
            self._url,
            token,
            timeout=self._timeout if timeout is None else timeout,
            headers=headers,
            connections=self._http,
        )

    def __enter__(self) -> "ManagerClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, unless they are another client's."""
        if self._owns_http:
            self._http.close()

    # access

    def whoami(self) -> WhoAmI:
        """Who the token belongs to."""
        return self._get("/api/v1/whoami", WhoAmI)

    def create_session(self) -> SessionCreated:
        """Exchange the token for a session."""
        return self._send("POST", "/api/v1/sessions", SessionCreated)

    def end_session(self) -> None:
        """End the session that this client uses."""
        self._request("DELETE", "/api/v1/sessions/current")

    def tokens(self) -> list[Token]:
        """Every token."""
        return list(self._pages("/api/v1/tokens", Page[Token], {}))

    def create_token(self, token: TokenCreate) -> TokenCreated:
        """Make a token; its secret is in the answer only."""
        return self._send("POST", "/api/v1/tokens", TokenCreated, body=token)

    def delete_token(self, name: str) -> None:
        """End a token and its sessions."""
        self._request("DELETE", f"/api/v1/tokens/{_segment(name)}")

    def events(self, **filters: str | int | bool | None) -> Iterator[AuditEvent]:
        """The audit log, newest first; filters: actor, action, limit."""
        return self._pages("/api/v1/events", Page[AuditEvent], dict(filters))

    # inventory

    def overview(self) -> Overview:
        """Counts for a first glance."""
        return self._get("/api/v1/overview", Overview)

    def system(self) -> System:
        """Versions and what is reachable."""
        return self._get("/api/v1/system", System)

    def nodes(self, **filters: str | int | bool | None) -> Iterator[Node]:
        """Every node."""
        return self._pages("/api/v1/nodes", Page[Node], dict(filters))

    def node(self, name: str) -> Node:
        """One node."""
        return self._get(f"/api/v1/nodes/{_segment(name)}", Node)

    def devices(self, **filters: str | int | bool | None) -> Iterator[Device]:
        """Devices; filters: node, health, state, model, interface_id, afu_id, held."""
        return self._pages("/api/v1/devices", Page[Device], dict(filters))

    def device(self, node: str, device: str) -> Device:
        """One device."""
        return self._get(f"/api/v1/devices/{_segment(node)}/{_segment(device)}", Device)

    def allocations(self, **filters: str | int | bool | None) -> Iterator[Allocation]:
        """Who holds what; filters: node, namespace."""
        return self._pages("/api/v1/allocations", Page[Allocation], dict(filters))

    # bitstreams

    def bitstreams(self, **filters: str | int | bool | None) -> Iterator[Bitstream]:
        """Stored bitstreams; filters: name, interface_id, afu_id."""
        return self._pages("/api/v1/bitstreams", Page[Bitstream], dict(filters))

    def bitstream(self, reference: str) -> Bitstream:
        """One bitstream by digest, name or name@version."""
        return self._get(f"/api/v1/bitstreams/{_segment(reference)}", Bitstream)

    def upload_bitstream(
        self,
        content: BinaryIO,
        *,
        name: str,
        version: str | None = None,
        size: int | None = None,
        digest: str | None = None,
    ) -> Bitstream:
        """Upload a file's bytes, streamed; with ``digest`` the manager refuses other content."""
        params: Params = {"name": name, "version": version}
        headers = {"Content-Type": "application/octet-stream"}
        if size is not None:
            headers["Content-Length"] = str(size)
        if digest is not None:
            headers["Content-Digest"] = _content_digest(digest)
        response = self._request(
            "POST", "/api/v1/bitstreams", params=params, content=_chunks(content), headers=headers
        )
        return _validated(Bitstream, response)

    def delete_bitstream(self, digest: str) -> None:
        """Delete a bitstream that nothing needs."""
        self._request("DELETE", f"/api/v1/bitstreams/{_segment(digest)}")

    # loads

    def create_load(self, load: LoadCreate, *, idempotency_key: str | None = None) -> Load:
        """Ask for a load."""
        return self._send("POST", "/api/v1/loads", Load, body=load, headers=_once(idempotency_key))

    def loads(self, **filters: str | int | bool | None) -> Iterator[Load]:
        """Loads, newest first; filters: state, node, device, bitstream, limit."""
        return self._pages("/api/v1/loads", Page[Load], dict(filters))

    def load(self, load_id: str) -> LoadDetail:
        """One load with its history."""
        return self._get(f"/api/v1/loads/{_segment(load_id)}", LoadDetail)

    def cancel_load(self, load_id: str) -> Load:
        """Ask a load to stop."""
        return self._send("POST", f"/api/v1/loads/{_segment(load_id)}/cancel", Load)

    def retry_load(self, load_id: str, *, idempotency_key: str | None = None) -> Load:
        """Make a new load of an ended one."""
        path = f"/api/v1/loads/{_segment(load_id)}/retry"
        return self._send("POST", path, Load, headers=_once(idempotency_key))

    def watch_load(
        self, load_id: str, *, last_event_id: int | None = None
    ) -> Iterator[LoadEventMessage]:
        """Follow a load's events until its end, or until the server closes the stream."""
        for event in self.stream(
            f"/api/v1/loads/{_segment(load_id)}/events", last_event_id=last_event_id
        ):
            if event.event == "load":
                yield _parsed(LoadEventMessage, event.data, self._url)

    def stream(
        self, path: str, *, last_event_id: int | None = None, keep_comments: bool = False
    ) -> Iterator[ServerSentEvent]:
        """Server-sent events of ``path``; pings are read over unless ``keep_comments``."""
        headers = {"Accept": "text/event-stream"}
        if last_event_id is not None:
            headers["Last-Event-ID"] = str(last_event_id)
        try:
            with self._http.stream(
                "GET", path, headers=self._headers | headers, timeout=self._timeout
            ) as response:
                if response.status_code >= 400:
                    response.read()
                    raise _problem(response)
                yield from parse_events(response.iter_lines(), keep_comments=keep_comments)
        except httpx2.RequestError as error:
            raise ManagerUnavailable(f"manager at {self._url}: {error}") from error

    # plumbing

    def list_page(self, path: str, page: type[Model], params: Params) -> Model:
        """One page of a list, for callers that show paging themselves."""
        return self._get(path, page, params)

    def raw(self, path: str, params: Params | None = None) -> bytes:
        """The body of a GET as it came."""
        return self._request("GET", path, params=params or {}).content

    def _get(self, path: str, model: type[Model], params: Params | None = None) -> Model:
        return _validated(model, self._request("GET", path, params=params or {}))

    def _send(
        self,
        method: str,
        path: str,
        model: type[Model],
        *,
        body: BaseModel | None = None,
        headers: dict[str, str] | None = None,
    ) -> Model:
        content = body.model_dump_json().encode() if body is not None else None
        sent = dict(headers or {})
        if content is not None:
            sent["Content-Type"] = "application/json"
        return _validated(model, self._request(method, path, content=content, headers=sent))

    def _pages(self, path: str, page: type[Page[Model]], params: Params) -> Iterator[Model]:
        cursor: str | None = None
        while True:
            answer = self._get(path, page, params | {"cursor": cursor})
            yield from answer.items
            if answer.next_cursor is None:
                return
            if answer.next_cursor == cursor:
                raise ManagerUnavailable(f"{self._url} gives the same page again and again")
            cursor = answer.next_cursor

    def _request(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        content: bytes | Iterator[bytes] | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx2.Response:
        sent = {name: value for name, value in (params or {}).items() if value is not None}
        try:
            response = self._http.request(
                method,
                path,
                params=sent,
                content=content,
                headers=self._headers | (headers or {}),
                timeout=self._timeout,
            )
        except httpx2.RequestError as error:
            raise ManagerUnavailable(f"manager at {self._url}: {error}") from error
        if response.status_code >= 400:
            raise _problem(response)
        return response


def _verification(url: str, ca_file: Path | None) -> ssl.SSLContext | bool:
    # Plain HTTP needs no trust store, and loading it is most of a short command's time; one that
    # was named is loaded all the same, so that a wrong path is no surprise later.
    if ca_file is None and not url.startswith("https:"):
        return False
    return ssl.create_default_context(cafile=str(ca_file) if ca_file else None)


def _validated(model: type[Model], response: httpx2.Response) -> Model:
    return _parsed(model, response.content, str(response.url))


def _parsed(model: type[Model], text: str | bytes, url: str) -> Model:
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise ManagerUnavailable(
            f"{url} did not answer like a manager: {error.errors()[0]['msg']}"
        ) from error


def _problem(response: httpx2.Response) -> ManagerProblem:
    try:
        return ManagerProblem(Problem.model_validate(json.loads(response.content)))
    except (ValueError, ValidationError):
        return ManagerProblem(_unexpected(response))


def _unexpected(response: httpx2.Response) -> Problem:
    return Problem(
        type="/problems/unexpected",
        title="Unexpected answer",
        status=response.status_code,
        detail=f"{response.url.path} answered {response.status_code} without a problem document",
        code="unexpected",
    )


def _once(idempotency_key: str | None) -> dict[str, str]:
    return {"Idempotency-Key": idempotency_key} if idempotency_key else {}


def _segment(text: str) -> str:
    """One segment of a path, whatever characters a caller passes on."""
    return quote(text, safe=":@")


def _content_digest(digest: str) -> str:
    """``sha256:<hex>`` as RFC 9530 writes it."""
    value = b64encode(bytes.fromhex(digest.removeprefix("sha256:"))).decode()
    return f"sha-256=:{value}:"


def _chunks(content: BinaryIO, size: int = 256 * 1024) -> Iterator[bytes]:
    while chunk := content.read(size):
        yield chunk


def json_of(model: BaseModel) -> Any:
    """A model as plain JSON values, for ``-o json``."""
    return model.model_dump(mode="json")
