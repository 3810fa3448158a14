"""A manager for the console's tests: real HTTP, the real wire models, and a state that tests move.

It answers what the console asks and nothing more; what the real manager does is the business of
the integration tests. ``ConsoleManager`` serves from a thread on loopback; tests call ``advance``
and ``end`` where a worker would act, and ``stop``/``start`` to make it unreachable.
"""

import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Final

from flask import Flask, Response, jsonify, request
from pydantic import BaseModel
from werkzeug.serving import BaseWSGIServer, make_server

from fpga_common.contract.access import Role, SessionCreated
from fpga_common.contract.bitstreams import Bitstream
from fpga_common.contract.loads import (
    Load,
    LoadBitstream,
    LoadCreate,
    LoadDetail,
    LoadEventMessage,
    LoadProgress,
)
from fpga_common.contract.nodes import Device, LoadRef, Node
from fpga_common.contract.problem import Problem, ProblemError
from fpga_common.contract.system import Overview
from fpga_common.domain.bitstream import BitstreamFormat
from fpga_common.domain.load import LoadState
from fpga_common.domain.operation import Phase
from fpga_common.testing.waiting import free_port
from support import console_seed as seed

TOKENS: Final = {
    "admin-token-000000000000": ("admin", Role.ADMIN),
    "operator-token-000000000": ("ops", Role.OPERATOR),
    "viewer-token-00000000000": ("looker", Role.VIEWER),
}
ADMIN_TOKEN, OPERATOR_TOKEN, VIEWER_TOKEN = TOKENS
PING_SECONDS: Final = 5.0


class Refused(Exception):
    """Answered as a problem document."""

    def __init__(
        self, status: int, code: str, detail: str, errors: list[ProblemError] | None = None
    ) -> None:
        super().__init__(detail)
        self.problem = Problem(
            type=f"/problems/{code}",
            title=code.replace("_", " ").capitalize(),
            status=status,
            detail=detail,
            code=code,
            errors=errors or [],
        )


class ConsoleManager:
    """The state, and the server in front of it."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._port = free_port()
        self._server: BaseWSGIServer | None = None
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self.reset()

    def reset(self) -> None:
        """Begin anew with the seed's cluster, and answer."""
        now = seed.present()
        self.nodes: list[Node] = seed.nodes(now)
        self.devices: list[Device] = seed.devices(now)
        self.bitstreams: list[Bitstream] = seed.bitstreams(now)
        self.loads: list[LoadDetail] = seed.loads(now)
        self.sessions: dict[str, tuple[str, Role]] = {}
        self.idempotency_keys: list[str] = []
        if self._thread is not None and self._server is None:
            self.start()

    @property
    def url(self) -> str:
        """Where it answers while it runs."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Answer again, at the same address."""
        self._stopping.clear()
        self._server = make_server("127.0.0.1", self._port, _application(self), threaded=True)
        self._server.daemon_threads = True  # type: ignore[attr-defined]
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="console-manager", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop answering and close every stream."""
        self._stopping.set()
        with self.changed:
            self.changed.notify_all()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join(10)
            self._server.server_close()
        self._server = None

    def __enter__(self) -> "ConsoleManager":
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    # what tests do

    def silence(self, name: str) -> None:
        """A node stops reporting: it and its devices go stale."""
        now = seed.present()
        last = now - timedelta(minutes=4)
        self.nodes = [
            seed.node(name, now, stale=True) if node.name == name else node for node in self.nodes
        ]
        self.devices = [
            Device.model_validate(
                device.model_dump(by_alias=True)
                | {"stale": True, "last_seen_at": last, "health": seed.health("unknown", now)}
            )
            if device.node == name
            else device
            for device in self.devices
        ]

    def advance(self, load_id: str, state: LoadState, phase: Phase, percent: float) -> None:
        """A worker reports progress."""
        self._happen(load_id, state, phase, percent, phase.value)

    def end(self, load_id: str, state: LoadState = LoadState.SUCCEEDED) -> None:
        """A load reaches its end; success puts its AFU into the device."""
        load = self.find_load(load_id)
        now = seed.present()
        with self.changed:
            load.finished_at = now
            load.seconds = (now - load.created_at).total_seconds()
            if state is LoadState.SUCCEEDED:
                load.afu_id = load.bitstream.afu_id
                self.find_device(load.target.node, load.target.device).afu_id = load.afu_id
            self.find_device(load.target.node, load.target.device).load = None
        self._happen(load_id, state, None, 100.0, state.value)

    def find_load(self, load_id: str) -> LoadDetail:
        """A load, or a 404."""
        for load in self.loads:
            if load.id == load_id:
                return load
        raise Refused(404, "load_unknown", f"there is no load {load_id}")

    def find_device(self, node: str, device: str) -> Device:
        """A device, or a 404."""
        for found in self.devices:
            if (found.node, found.id) == (node, device):
                return found
        raise Refused(404, "device_unknown", f"{node} has no device {device}")

    def find_bitstream(self, reference: str) -> Bitstream:
        """A bitstream, or a 404."""
        for found in self.bitstreams:
            if reference in (found.digest, found.name, f"{found.name}@{found.version}"):
                return found
        raise Refused(404, "bitstream_unknown", f"there is no bitstream {reference}")

    def _happen(
        self, load_id: str, state: LoadState, phase: Phase | None, percent: float, message: str
    ) -> None:
        load = self.find_load(load_id)
        now = seed.present()
        with self.changed:
            load.state = state
            load.attempt = max(load.attempt, 1)
            load.started_at = load.started_at or now
            load.progress = LoadProgress(phase=phase, percent=percent, message=message)
            sequence = len(load.history) + 1
            load.history.append(seed.event(sequence, now, state, phase, message, percent))
            self.changed.notify_all()

    # what the server does

    def create(self, wanted: LoadCreate, requested_by: str) -> LoadDetail:
        """Take a load, or refuse one that does not fit."""
        device = self.find_device(wanted.target.node, wanted.target.device)
        bitstream = self.find_bitstream(wanted.bitstream)
        if bitstream.interface_id != device.interface_id:
            refusal = Refused(409, "interface_mismatch", "the bitstream does not fit the region")
            refusal.problem.expected = device.interface_id
            refusal.problem.actual = bitstream.interface_id
            raise refusal
        load = _new_load(wanted, bitstream, device, requested_by, seed.present())
        device.load = LoadRef(id=load.id, state=load.state.value)
        self.loads.insert(0, load)
        return load

    def overview(self) -> Overview:
        """Counts of everything."""
        health = Counter(
            "unknown" if device.stale else device.health.status.value for device in self.devices
        )
        return Overview(
            generated_at=seed.present(),
            nodes=len(self.nodes),
            nodes_stale=sum(node.stale for node in self.nodes),
            cards=len({(device.node, device.card) for device in self.devices}),
            devices=len(self.devices),
            devices_by_health=dict(health),
            devices_by_state=dict(Counter(device.state.value for device in self.devices)),
            devices_held=sum(device.holder is not None for device in self.devices),
            devices_drifted=sum(device.drift for device in self.devices),
            loads_by_state=dict(Counter(load.state.value for load in self.loads)),
            recent_loads=[Load.model_validate(load.model_dump()) for load in self.loads[:6]],
        )

    def events(self, load_id: str, after: int) -> Iterator[str]:
        """Server-sent events until the load's end or the server's."""
        load = self.find_load(load_id)
        while not self._stopping.is_set():
            with self.changed:
                fresh = [event for event in load.history if event.sequence > after]
                ended = load.state.ended
                if not fresh and not ended:
                    self.changed.wait(PING_SECONDS)
            for event in fresh:
                after = event.sequence
                message = LoadEventMessage(load=Load.model_validate(load.model_dump()), event=event)
                yield f"event: load\nid: {after}\ndata: {message.model_dump_json()}\n\n"
            if ended:
                return
            if not fresh:
                yield ": ping\n\n"


def _new_load(
    wanted: LoadCreate, bitstream: Bitstream, device: Device, requested_by: str, now: datetime
) -> LoadDetail:
    return LoadDetail(
        id=secrets.token_hex(16),
        state=LoadState.QUEUED,
        bitstream=LoadBitstream.model_validate(bitstream.model_dump()),
        target=wanted.target,
        requested_by=requested_by,
        priority=wanted.priority,
        if_busy=wanted.if_busy,
        persist=wanted.persist,
        force=wanted.force,
        created_at=now,
        deadline_at=now + timedelta(seconds=wanted.deadline_seconds),
        previous_afu_id=device.afu_id,
        history=[seed.event(1, now, LoadState.QUEUED, None, "accepted")],
    )


def _application(manager: ConsoleManager) -> Flask:
    app = Flask("console_manager")
    app.register_error_handler(Refused, _problem)
    app.before_request(lambda: _authenticate(manager))
    _access_routes(app, manager)
    _read_routes(app, manager)
    _bitstream_routes(app, manager)
    _load_routes(app, manager)
    return app


def _problem(refused: Refused) -> Response:
    response = _json(refused.problem, refused.problem.status)
    response.mimetype = "application/problem+json"
    return response


def _json(model: BaseModel, status: int = 200) -> Response:
    return Response(
        model.model_dump_json(by_alias=True), status=status, mimetype="application/json"
    )


def _page(models: list[Any], next_cursor: str | None = None) -> Response:
    items = [model.model_dump(mode="json", by_alias=True) for model in models]
    return jsonify({"items": items, "next_cursor": next_cursor})


def _caller(manager: ConsoleManager) -> tuple[str, Role]:
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    found = TOKENS.get(token) or manager.sessions.get(token)
    if found is None:
        raise Refused(401, "not_signed_in", "the token or session is not known")
    return found


def _authenticate(manager: ConsoleManager) -> None:
    if request.path != "/healthz":
        _caller(manager)


def _require_operator(manager: ConsoleManager) -> str:
    name, role = _caller(manager)
    if role is Role.VIEWER:
        raise Refused(403, "forbidden", "a viewer may only look")
    return name


def _access_routes(app: Flask, manager: ConsoleManager) -> None:
    @app.get("/healthz")
    def healthz() -> str:
        return "ok"

    @app.post("/api/v1/sessions")
    def create_session() -> Response:
        name, role = _caller(manager)
        session = secrets.token_urlsafe(24)
        manager.sessions[session] = (name, role)
        expires = seed.present() + timedelta(hours=12)
        return _json(SessionCreated(session=session, name=name, role=role, expires_at=expires), 201)

    @app.delete("/api/v1/sessions/current")
    def end_session() -> tuple[str, int]:
        manager.sessions.pop(request.headers["Authorization"].removeprefix("Bearer "), None)
        return "", 204


def _read_routes(app: Flask, manager: ConsoleManager) -> None:
    @app.get("/api/v1/overview")
    def overview() -> Response:
        return _json(manager.overview())

    @app.get("/api/v1/nodes")
    def nodes() -> Response:
        return _page(manager.nodes)

    @app.get("/api/v1/devices")
    def devices() -> Response:
        return _page([device for device in manager.devices if _asked_for(device)])

    @app.get("/api/v1/devices/<node>/<device>")
    def device(node: str, device: str) -> Response:
        return _json(manager.find_device(node, device))


def _asked_for(device: Device) -> bool:
    status = "unknown" if device.stale else device.health.status.value
    actual = {"health": status, "state": device.state.value, "node": device.node}
    held = {"true": True, "false": False}.get(request.args.get("held", ""))
    wanted = all(request.args.get(key, value) == value for key, value in actual.items())
    return wanted and (held is None or held == (device.holder is not None))


def _bitstream_routes(app: Flask, manager: ConsoleManager) -> None:
    @app.get("/api/v1/bitstreams")
    def bitstreams() -> Response:
        return _page(manager.bitstreams)

    @app.get("/api/v1/bitstreams/<reference>")
    def bitstream(reference: str) -> Response:
        return _json(manager.find_bitstream(reference))

    @app.post("/api/v1/bitstreams")
    def upload() -> Response:
        _require_operator(manager)
        content = request.get_data()
        _require_gbs(content)
        stored = seed.bitstream(
            16 + len(manager.bitstreams),
            request.args["name"],
            seed.N3000,
            seed.CRYPTO,
            seed.present(),
            version=request.args.get("version"),
        )
        stored.size_bytes, stored.format = len(content), BitstreamFormat.GBS
        manager.bitstreams.append(stored)
        return _json(stored, 201)


def _require_gbs(content: bytes) -> None:
    if content.startswith(b"XeonFPGA"):
        return
    error = ProblemError(
        detail="the file does not begin like a GBS",
        field="magic",
        expected="XeonFPGA",
        actual=content[:8].decode("latin-1"),
    )
    raise Refused(422, "malformed_bitstream", "the file cannot be read as a GBS", [error])


def _load_routes(app: Flask, manager: ConsoleManager) -> None:
    @app.get("/api/v1/loads")
    def loads() -> Response:
        state, node = request.args.get("state"), request.args.get("node")
        device, limit = request.args.get("device"), int(request.args.get("limit", "50"))
        after = int(request.args.get("cursor", "0"))
        found = [
            Load.model_validate(load.model_dump())
            for load in manager.loads
            if state in (None, load.state.value)
            and node in (None, load.target.node)
            and device in (None, load.target.device)
        ]
        more = str(after + limit) if len(found) > after + limit else None
        return _page(found[after : after + limit], more)

    @app.post("/api/v1/loads")
    def create() -> Response:
        name = _require_operator(manager)
        manager.idempotency_keys.append(request.headers.get("Idempotency-Key", ""))
        wanted = LoadCreate.model_validate_json(request.get_data())
        return _json(manager.create(wanted, name), 202)

    @app.get("/api/v1/loads/<load_id>")
    def load(load_id: str) -> Response:
        return _json(manager.find_load(load_id))

    @app.post("/api/v1/loads/<load_id>/cancel")
    def cancel(load_id: str) -> Response:
        _require_operator(manager)
        manager.end(load_id, LoadState.CANCELLED)
        return _json(manager.find_load(load_id), 202)

    @app.post("/api/v1/loads/<load_id>/retry")
    def retry(load_id: str) -> Response:
        name = _require_operator(manager)
        old = manager.find_load(load_id)
        wanted = LoadCreate(bitstream=old.bitstream.digest, target=old.target)
        return _json(manager.create(wanted, name), 202)

    @app.get("/api/v1/loads/<load_id>/events")
    def events(load_id: str) -> Response:
        after = int(request.headers.get("Last-Event-ID", "0"))
        return Response(manager.events(load_id, after), mimetype="text/event-stream")
