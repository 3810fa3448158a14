"""``/loads``: ask for loads, follow them, end them."""

import hashlib
from collections.abc import Callable
from typing import Any, Final

from apiflask import APIBlueprint
from flask import Response, current_app, request, url_for
from pydantic import Field, TypeAdapter
from sqlalchemy.orm import Session

from fpga_bitstream_manager.access.idempotency import IdempotencyKey, answer_once
from fpga_bitstream_manager.api.context import principal, services
from fpga_bitstream_manager.api.guard import require_role, requires
from fpga_bitstream_manager.api.load_stream import load_stream, take_place
from fpga_bitstream_manager.api.pagination import PageQuery
from fpga_bitstream_manager.failures import BadRequest
from fpga_bitstream_manager.loads.listing import LoadFilter, list_loads
from fpga_common.contract.access import Role
from fpga_common.contract.base import Page
from fpga_common.contract.loads import Load, LoadCreate, LoadDetail
from fpga_common.domain.load import LoadState

blueprint = APIBlueprint("loads", __name__, tag="Loads", url_prefix="/api/v1")

LOAD_KEY: Final = TypeAdapter(tuple[str])
IDEMPOTENCY_KEY: Final = "Idempotency-Key"
LAST_EVENT_ID: Final = "Last-Event-ID"
LONGEST_KEY: Final = 255
LONGEST_EVENT_ID: Final = 18
RETRY_AFTER_SECONDS: Final = "1"
STREAM_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

REFUSALS: Final[dict[int | str, Any]] = {
    404: {"description": "Unknown bitstream, node or device"},
    409: {"description": "The bitstream does not fit the region, or the region cannot take it"},
    422: {"description": "The body is wrong, or the key came before with another request"},
}
EVENT_STREAM: Final[dict[int | str, Any]] = {
    200: {
        "description": "Server-sent events: event `load`, data `LoadEventMessage`",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    503: {"description": "Too many streams; poll the load instead"},
}

Answer = tuple[Load, int, dict[str, str]]


class InvalidIdempotencyKey(BadRequest):
    """An ``Idempotency-Key`` has 1 to 255 printable ASCII characters."""

    code = "invalid_idempotency_key"


class InvalidLastEventId(BadRequest):
    """``Last-Event-ID`` is the number of the last event that was received."""

    code = "invalid_last_event_id"


class LoadsQuery(PageQuery):
    """Filters of loads."""

    state: LoadState | None = None
    node: str | None = None
    device: str | None = None
    bitstream: str | None = Field(default=None, description="A digest or a name.")

    def filter(self) -> LoadFilter:
        """The filter without paging."""
        return LoadFilter(**self.model_dump(exclude={"limit", "cursor"}))


@blueprint.get("/loads")
@requires(Role.VIEWER)
@blueprint.input(LoadsQuery, location="query")
@blueprint.output(Page[Load])
def get_loads(query_data: LoadsQuery) -> Page[Load]:
    """Loads, newest first."""
    after = query_data.after(LOAD_KEY)
    with services().ledger.reading() as session:
        found = list_loads(
            session,
            query_data.filter(),
            before=after[0] if after else None,
            limit=query_data.limit + 1,
        )
    return query_data.page(found, lambda load: [load.id])


@blueprint.post("/loads")
@requires(Role.OPERATOR)
@blueprint.input(LoadCreate)
@blueprint.output(Load, status_code=202)
@blueprint.doc(responses=REFUSALS)
def create_load(json_data: LoadCreate) -> Answer:
    """Ask for a load. It is written down and will have exactly one end, whatever fails meanwhile.

    ``force`` needs the role admin. With an ``Idempotency-Key``, the same request is done once.
    """
    if json_data.force:
        require_role(principal(), Role.ADMIN)
    loads, actor = services().loads, principal().actor
    return _accepted(_once(lambda session: loads.create_in(session, json_data, actor)))


@blueprint.get("/loads/<load_id>")
@requires(Role.VIEWER)
@blueprint.output(LoadDetail)
def get_load(load_id: str) -> LoadDetail:
    """One load with its attempts and history."""
    return services().loads.detail(load_id)


@blueprint.post("/loads/<load_id>/cancel")
@requires(Role.OPERATOR)
@blueprint.output(Load, status_code=202)
@blueprint.doc(responses={409: "The load has ended"})
def cancel_load(load_id: str) -> Answer:
    """End a load that has not begun; ask the node to stop one that runs."""
    return _accepted(services().loads.cancel(load_id, principal().actor))


@blueprint.post("/loads/<load_id>/retry")
@requires(Role.OPERATOR)
@blueprint.output(Load, status_code=202)
@blueprint.doc(responses=REFUSALS)
def retry_load(load_id: str) -> Answer:
    """Make a new load that asks for the same as an ended one.

    With an ``Idempotency-Key``, the same request is done once.
    """
    loads, actor = services().loads, principal().actor
    if loads.get(load_id).force:
        require_role(principal(), Role.ADMIN)
    return _accepted(_once(lambda session: loads.retry_in(session, load_id, actor)))


@blueprint.get("/loads/<load_id>/events")
@requires(Role.VIEWER)
@blueprint.doc(responses=EVENT_STREAM)
def follow_load(load_id: str) -> Response:
    """Follow a load until its end as server-sent events.

    Events are numbered; ``Last-Event-ID`` resumes behind one. The stream ends on the load's end.
    """
    own = services()
    own.loads.get(load_id)
    stream = load_stream(own, load_id, _last_event_id())
    give_back = take_place(current_app, own.settings.api.streams)
    response = Response(stream, mimetype="text/event-stream", headers=STREAM_HEADERS)
    response.call_on_close(give_back)
    return response


def _once(work: Callable[[Session], Load]) -> Load:
    """Do ``work`` in a transaction; where the request has a key, only if it was not done before."""
    own, key = services(), _idempotency_key(principal().actor)
    if key is None:
        with own.ledger.transaction() as session:
            return work(session)
    document = answer_once(
        own.ledger, own.clock, key, lambda session: work(session).model_dump(mode="json")
    )
    return Load.model_validate(document)


def _accepted(load: Load) -> Answer:
    location = url_for("loads.get_load", load_id=load.id)
    return load, 202, {"Location": location, "Retry-After": RETRY_AFTER_SECONDS}


def _idempotency_key(actor: str) -> IdempotencyKey | None:
    key = request.headers.get(IDEMPOTENCY_KEY)
    if key is None:
        return None
    if not 1 <= len(key) <= LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise InvalidIdempotencyKey(f"1 to {LONGEST_KEY} printable ASCII characters")
    told = f"{request.method} {request.path}\n".encode() + request.get_data()
    return IdempotencyKey(actor, key, hashlib.sha256(told).hexdigest())


def _last_event_id() -> int:
    text = request.headers.get(LAST_EVENT_ID, "0")
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_EVENT_ID):
        raise InvalidLastEventId("not an event's number", actual=text)
    return int(text)
