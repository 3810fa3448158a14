"""The first page."""

from collections.abc import Iterator
from itertools import islice

from flask import Blueprint
from werkzeug.wrappers import Response

from fpga_common.contract.nodes import Device, Node
from fpga_common.contract.system import Overview
from fpga_web.manager import manager
from fpga_web.presenters import nodes as node_presenter
from fpga_web.presenters.figures import afu_names
from fpga_web.presenters.overview import ATTENTION, ATTENTION_HEALTH, attention, overview_page
from fpga_web.rendering import now, page

blueprint = Blueprint("overview", __name__)


@blueprint.get("/")
def show() -> Response:
    """Counts, what needs attention, what happened last."""
    found = manager().overview()
    return page(
        "overview",
        overview=overview_page(found, now()),
        attention=attention(_troubled(found), afu_names(manager().bitstreams(limit=200)), now()),
        silent=node_presenter.rows(_silent(found), now()),
        first_steps=found.nodes == 0,
    )


def _troubled(found: Overview) -> Iterator[Device]:
    for status in ATTENTION_HEALTH:
        if found.devices_by_health.get(status):
            yield from islice(manager().devices(health=status.value, limit=ATTENTION), ATTENTION)


def _silent(found: Overview) -> list[Node]:
    if not found.nodes_stale:
        return []
    return [node for node in manager().nodes(limit=200) if node.stale]
