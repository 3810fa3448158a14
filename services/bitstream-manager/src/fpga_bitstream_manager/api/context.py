"""What belongs to the request being answered: its services, its caller, its id."""

from typing import cast

from flask import current_app, g

from fpga_bitstream_manager.access.principal import Principal
from fpga_bitstream_manager.services import Services

EXTENSION = "fpga_bitstream_manager"


def services() -> Services:
    """The process's services."""
    return cast("Services", current_app.extensions[EXTENSION])


def principal() -> Principal:
    """The caller; only in views that ``requires`` or ``for_nodes`` guards."""
    return cast("Principal", g.principal)


def request_id() -> str:
    """The request's id, as in its answer's ``X-Request-Id``."""
    return cast("str", g.get("request_id", ""))
