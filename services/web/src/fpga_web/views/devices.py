"""Devices: the list with its filters, one device, and asking for a load."""

import uuid
from itertools import islice
from typing import Final
from urllib.parse import urlencode

from flask import Blueprint, abort, request, url_for
from werkzeug.wrappers import Response

from fpga_common.client import ManagerProblem
from fpga_common.contract.bitstreams import Bitstream
from fpga_common.contract.loads import LoadCreate, LoadTarget
from fpga_common.contract.nodes import Device
from fpga_common.domain.load import IfBusy
from fpga_web.manager import manager
from fpga_web.permissions import require_operator
from fpga_web.presenters import bitstreams as bitstream_presenter
from fpga_web.presenters import device_detail
from fpga_web.presenters import loads as load_presenter
from fpga_web.presenters.device_query import DeviceQuery
from fpga_web.presenters.devices import device_page
from fpga_web.presenters.figures import afu_names
from fpga_web.presenters.overview import overview_page
from fpga_web.presenters.problems import ErrorView, of_problem
from fpga_web.rendering import go, now, page

MOST_DEVICES: Final = 2000
RECENT_LOADS: Final = 5
blueprint = Blueprint("devices", __name__)


@blueprint.get("/devices")
def index() -> Response:
    """The devices that match the address."""
    query = DeviceQuery.parse(request.args)
    client = manager()
    found = list(islice(client.devices(**query.manager_filters, limit=200), MOST_DEVICES + 1))
    overview = client.overview()
    response = page(
        "devices",
        query=query,
        shown=device_page(
            found[:MOST_DEVICES], query, afu_names(client.bitstreams(limit=200)), now()
        ),
        truncated=len(found) > MOST_DEVICES,
        most=MOST_DEVICES,
        counts=overview_page(overview, now()).health,
        total=overview.devices,
        address=address,
        nodes=[node.name for node in client.nodes(limit=200)],
    )
    response.headers["HX-Push-Url"] = address(query)
    return response


def address(query: DeviceQuery) -> str:
    """Where a query stands in the address bar."""
    path, arguments = url_for("devices.index"), urlencode(query.arguments())
    return f"{path}?{arguments}" if arguments else path


@blueprint.get("/devices/<node>/<device>")
def show(node: str, device: str) -> Response:
    """One device."""
    client = manager()
    found = client.device(node, device)
    bitstreams = list(client.bitstreams(limit=200))
    loads = islice(client.loads(node=node, device=device, limit=RECENT_LOADS), RECENT_LOADS)
    return page(
        "device",
        device=device_detail.detail(found, afu_names(bitstreams), now()),
        choices=bitstream_presenter.choices(bitstreams, found),
        unfit=bitstream_presenter.unfit(bitstreams, found),
        loads=load_presenter.rows(loads, now()),
    )


@blueprint.get("/devices/<node>/<device>/load")
def confirm(node: str, device: str) -> Response:
    """What a load would change, and the button that asks for it."""
    require_operator()
    return _confirmation(node, device, None)


@blueprint.post("/devices/<node>/<device>/load")
def load(node: str, device: str) -> Response:
    """Ask for a load and follow it."""
    require_operator()
    wanted = LoadCreate(
        bitstream=_digest(),
        target=LoadTarget(node=node, device=device),
        if_busy=_if_busy(),
        persist="persist" in request.values,
    )
    key = request.form.get("key") or None
    try:
        created = manager().create_load(wanted, idempotency_key=key)
    except ManagerProblem as problem:
        if problem.status not in (400, 409, 422):
            raise
        return _confirmation(node, device, of_problem(problem.problem))
    return go(url_for("loads.show", load_id=created.id))


def _confirmation(node: str, device: str, error: ErrorView | None) -> Response:
    client = manager()
    found = client.device(node, device)
    chosen = client.bitstream(_digest())
    names = afu_names([*client.bitstreams(limit=200), chosen])
    response = page(
        "confirm_load",
        confirmation=device_detail.confirmation(
            found, chosen, names, now(), waits=_if_busy() is IfBusy.WAIT
        ),
        blocked=device_detail.why_not_loadable(found) or _unfit(chosen, found),
        if_busy=_if_busy().value,
        persist="persist" in request.values,
        key=uuid.uuid4().hex,
        error=error,
    )
    response.status_code = error.status if error else 200
    return response


def _unfit(chosen: Bitstream, device: Device) -> str:
    reason = bitstream_presenter.why_not(chosen, device)
    return f"This bitstream does not fit: {reason}." if reason else ""


def _digest() -> str:
    digest = request.values.get("bitstream", "")
    if not digest or len(digest) > 256:
        abort(400)
    return digest


def _if_busy() -> IfBusy:
    return IfBusy.FAIL if request.values.get("if_busy") == IfBusy.FAIL else IfBusy.WAIT
