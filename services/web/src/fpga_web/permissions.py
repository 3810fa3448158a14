"""What the console lets a role try; the manager decides, this spares forms that would fail."""

from flask import abort

from fpga_web.session import current_session


def require_operator() -> None:
    """Answer 403 to who may only look."""
    session = current_session()
    if session is None or not session.may_change:
        abort(403)
