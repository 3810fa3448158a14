"""Sign-in with a token, which is exchanged for a session of the manager and then forgotten."""

from typing import Final

from flask import Blueprint, make_response, render_template, request, url_for
from werkzeug.wrappers import Response

from fpga_common.client import ManagerProblem, ManagerUnavailable
from fpga_common.observability.logging import get_logger
from fpga_web import session
from fpga_web.manager import manager, reachable, with_token
from fpga_web.presenters.problems import ErrorView, of_status, unavailable
from fpga_web.rendering import go
from fpga_web.views.locations import safe_location

LONGEST_TOKEN: Final = 4096
blueprint = Blueprint("sign_in", __name__)
log = get_logger(__name__)


@blueprint.get("/sign-in")
def form() -> Response:
    """The form; says when the manager does not answer."""
    if session.current_session():
        return go(safe_location(request.args.get("next")))
    return _form(None if reachable() else unavailable(), 200)


@blueprint.post("/sign-in")
def submit() -> Response:
    """Exchange the token for a session."""
    token = request.form.get("token", "").strip()
    if not _sendable(token):
        return _form(of_status(401, "Paste the whole token, on one line."), 401)
    try:
        created = with_token(token).create_session()
    except ManagerUnavailable:
        return _form(unavailable(), 503)
    except ManagerProblem as problem:
        return _refused(problem)
    session.sign_in(created)
    log.info("signed_in", user=created.name, role=created.role.value)
    return go(safe_location(request.form.get("next")))


@blueprint.post("/sign-out")
def sign_out() -> Response:
    """End the session here and at the manager."""
    try:
        manager().end_session()
    except (ManagerProblem, ManagerUnavailable) as failure:
        log.warning("session_not_ended", reason=failure.message)
    session.sign_out()
    return go(url_for("sign_in.form"))


def _sendable(token: str) -> bool:
    return 0 < len(token) <= LONGEST_TOKEN and token.isascii() and token.isprintable()


def _refused(problem: ManagerProblem) -> Response:
    if problem.status in (401, 403):
        log.info("sign_in_refused", status=problem.status)
        return _form(of_status(401, "The manager does not know this token."), 401)
    if problem.status >= 500:
        return _form(unavailable(problem.problem.detail), 503)
    return _form(of_status(problem.status, problem.problem.detail), problem.status)


def _form(error: ErrorView | None, status: int) -> Response:
    wanted = request.values.get("next", "")
    return make_response(render_template("pages/sign_in.html", error=error, next=wanted), status)
