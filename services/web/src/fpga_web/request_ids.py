"""Ids of requests, which go into the log, to the manager and onto error pages."""

import re
import uuid
from typing import Final

_ACCEPTABLE: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")


def request_id(offered: str | None) -> str:
    """The id that a proxy gave the request, or a new one."""
    if offered and _ACCEPTABLE.fullmatch(offered):
        return offered
    return uuid.uuid4().hex
