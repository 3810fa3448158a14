"""What a browser remembers of its user's taste."""

from typing import Final

from flask import Blueprint, request
from flask import session as cookie
from werkzeug.wrappers import Response

from fpga_web.rendering import go
from fpga_web.views.locations import safe_location

THEMES: Final = ("auto", "light", "dark")
blueprint = Blueprint("preferences", __name__)


@blueprint.post("/preferences/theme")
def theme() -> Response:
    """Choose between dark, light, and what the system says."""
    wanted = request.form.get("theme", "auto")
    cookie["theme"] = wanted if wanted in THEMES else "auto"
    return go(safe_location(request.form.get("next")))
