"""What a page says when something failed: plainly, in place, with what to try.

Registered by ``app``. Fragments that cannot be read anew leave what is shown, which the page then
greys.
"""

from flask import Flask, flash, make_response, render_template, request, url_for
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge
from werkzeug.wrappers import Response

from fpga_common.client import ManagerProblem, ManagerUnavailable
from fpga_common.observability.logging import get_logger
from fpga_web.presenters.problems import ErrorView, of_problem, of_status, unavailable
from fpga_web.rendering import go, wants_fragment
from fpga_web.session import sign_out

log = get_logger(__name__)


def register(app: Flask) -> None:
    """Let the application answer failures."""
    app.register_error_handler(ManagerUnavailable, _manager_unavailable)
    app.register_error_handler(ManagerProblem, _manager_problem)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(Exception, _unexpected)


def error_page(view: ErrorView) -> Response:
    """A failure as a page, or for htmx as a status that leaves the page's content alone."""
    if wants_fragment():
        response = make_response(view.title, view.status)
        response.headers["HX-Reswap"] = "none"
        return response
    return make_response(render_template("pages/error.html", error=view), view.status)


def ask_to_sign_in(message: str = "") -> Response:
    """Send to the sign-in page, and back afterwards."""
    if message:
        flash(message, "warning")
    wanted = request.full_path.rstrip("?") if request.method == "GET" else None
    return go(url_for("sign_in.form", next=None if wanted in (None, "/") else wanted))


def _manager_unavailable(failure: ManagerUnavailable) -> Response:
    log.warning("manager_unavailable", reason=failure.message)
    return error_page(unavailable())


def _manager_problem(failure: ManagerProblem) -> Response:
    if failure.status == 401:
        sign_out()
        return ask_to_sign_in("Your session has ended. Sign in again.")
    if failure.status in (502, 503, 504):
        log.warning("manager_unavailable", reason=failure.message)
        return error_page(unavailable(failure.problem.detail))
    return error_page(of_problem(failure.problem))


def _http(failure: HTTPException) -> Response:
    if isinstance(failure, RequestEntityTooLarge):
        return error_page(of_status(413, "The file is larger than this console takes."))
    return error_page(of_status(failure.code or 500))


def _unexpected(failure: Exception) -> Response:
    # The top of every request: whatever was not foreseen becomes a page with the request's id.
    log.error("page_failed", path=request.path, exc_info=failure)
    return error_page(of_status(500))
