"""Whether the console itself is alive; says nothing of the manager."""

from flask import Blueprint, Response, make_response

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> Response:
    """Alive."""
    response = make_response("ok\n")
    response.mimetype = "text/plain"
    return response
