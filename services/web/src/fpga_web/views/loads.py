"""Loads: the list, one load with its progress live, cancel and retry."""

import re
from typing import Final

from flask import (
    Blueprint,
    abort,
    current_app,
    flash,
    make_response,
    render_template,
    request,
    stream_with_context,
    url_for,
)
from flask import Response as FlaskResponse
from werkzeug.wrappers import Response

from fpga_common.contract.base import Page
from fpga_common.contract.loads import Load, LoadDetail
from fpga_common.domain.load import LoadState
from fpga_web.live import follow
from fpga_web.manager import manager
from fpga_web.permissions import require_operator
from fpga_web.presenters import loads as presenter
from fpga_web.presenters.overview import overview_page
from fpga_web.presenters.status import LOAD
from fpga_web.presenters.timeline import timeline
from fpga_web.rendering import go, now, page
from fpga_web.streams import StreamSlots

ROWS: Final = 50
_LOAD_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
blueprint = Blueprint("loads", __name__)


@blueprint.get("/loads")
def index() -> Response:
    """Loads, newest first."""
    state = request.args.get("state", "")
    state = state if state in set(LoadState) else ""
    node, cursor = request.args.get("node", ""), request.args.get("cursor", "")
    client = manager()
    found = client.list_page(
        "/api/v1/loads",
        Page[Load],
        {"state": state or None, "node": node or None, "cursor": cursor or None, "limit": ROWS},
    )
    return page(
        "loads",
        loads=presenter.rows(found.items, now()),
        counts=overview_page(client.overview(), now()).loads,
        state=LOAD[LoadState(state)] if state else None,
        node=node,
        cursor=cursor,
        next_cursor=found.next_cursor,
    )


@blueprint.get("/loads/<load_id>")
def show(load_id: str) -> Response:
    """One load."""
    return page("load", **panel_context(manager().load(_known(load_id))))


@blueprint.get("/loads/<load_id>/events")
def events(load_id: str) -> Response:
    """The load's panel anew at each of its events, as server-sent events."""
    slots: StreamSlots = current_app.extensions["fpga_streams"]
    if not slots.take():
        return make_response("", 204)
    frames = follow(_known(load_id), _panel)
    response = FlaskResponse(stream_with_context(frames), mimetype="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"
    response.call_on_close(slots.give_back)
    return response


@blueprint.post("/loads/<load_id>/cancel")
def cancel(load_id: str) -> Response:
    """Ask a load to stop."""
    require_operator()
    manager().cancel_load(_known(load_id))
    flash("The load was asked to stop.", "info")
    return go(url_for(".show", load_id=load_id))


@blueprint.post("/loads/<load_id>/retry")
def retry(load_id: str) -> Response:
    """Ask for the same load again."""
    require_operator()
    again = manager().retry_load(_known(load_id))
    return go(url_for(".show", load_id=again.id))


def panel_context(load: LoadDetail) -> dict[str, object]:
    """What the panel of one load shows."""
    return {
        "load": load,
        "row": presenter.row(load, now()),
        "steps": timeline(load, now()),
        "attempts": presenter.attempts(load.attempts, now()),
        "history": presenter.history(load, now()),
        "may_cancel": presenter.may_cancel(load),
        "may_retry": presenter.may_retry(load),
    }


def _panel(load: LoadDetail) -> str:
    return render_template("live/load_panel.html", **panel_context(load))


def _known(load_id: str) -> str:
    if not _LOAD_ID.fullmatch(load_id):
        abort(404)
    return load_id
