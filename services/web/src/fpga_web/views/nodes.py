"""The list of nodes."""

from flask import Blueprint
from werkzeug.wrappers import Response

from fpga_web.manager import manager
from fpga_web.presenters.nodes import rows
from fpga_web.rendering import now, page

blueprint = Blueprint("nodes", __name__)


@blueprint.get("/nodes")
def index() -> Response:
    """Every node, silent ones first."""
    return page("nodes", nodes=rows(manager().nodes(limit=200), now()))
