"""Pages and their live fragments. Called by views.

A page is ``pages/<name>.html`` around the fragment ``live/<name>.html``; htmx asks for the fragment
of the same address, a browser without scripts for the page.
"""

from datetime import UTC, datetime
from typing import Any

from flask import Response, g, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse


def now() -> datetime:
    """The time of this request, when the manager was asked."""
    moment: datetime = g.now
    return moment


def set_now() -> None:
    """Fix the time of this request."""
    g.now = datetime.now(UTC)


def wants_fragment() -> bool:
    """Whether htmx asks for what changes within the page."""
    headers = request.headers
    return headers.get("HX-Request") == "true" and "HX-History-Restore-Request" not in headers


def page(name: str, **context: Any) -> Response:
    """The page, or its fragment for htmx."""
    folder = "live" if wants_fragment() else "pages"
    return make_response(render_template(f"{folder}/{name}.html", **context))


def go(location: str) -> AnyResponse:
    """Send the browser elsewhere after a form, or from within a fragment."""
    if wants_fragment():
        response = make_response("", 204)
        response.headers["HX-Redirect"] = location
        return response
    return redirect(location, code=303)
