"""Bodies that are not what they claim: cut off, wrongly framed, or nested without end.

Called by the app once; views only ever see whole bodies.
"""

import json
from typing import Any, NoReturn

from apiflask import APIFlask
from flask import request
from flask.json.provider import DefaultJSONProvider

from fpga_bitstream_manager.failures import BadRequest


class BrokenBody(BadRequest):
    """The body is not framed as HTTP wants it, so nobody can tell where it ends. Send it again."""

    code = "broken_body"


class StrictJson(DefaultJSONProvider):
    """JSON as RFC 8259 has it; what Python would also take, or break on, is a ValueError."""

    @staticmethod
    def loads(s: str | bytes, **kwargs: Any) -> Any:
        """Parse a body."""
        try:
            return json.loads(s, parse_constant=_refuse_constant, **kwargs)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def read_strictly(app: APIFlask) -> None:
    """Let ``app`` refuse such bodies with 400; ``BrokenBody`` is raised by ``api.app``."""
    app.json = StrictJson(app)
    app.json.sort_keys = False
    app.before_request(_require_the_announced_length)


def _require_the_announced_length() -> None:
    """The server ends a body silently where the client went away; werkzeug counts if it may."""
    if request.content_length is not None:
        request.environ.pop("wsgi.input_terminated", None)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
