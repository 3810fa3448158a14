"""``/whoami``, ``/sessions``, ``/tokens``."""

from typing import Final

from apiflask import APIBlueprint
from pydantic import TypeAdapter

from fpga_bitstream_manager.access import tokens
from fpga_bitstream_manager.api.context import principal, services
from fpga_bitstream_manager.api.guard import bearer, requires
from fpga_bitstream_manager.api.pagination import PageQuery
from fpga_common.contract.access import (
    Role,
    SessionCreated,
    Token,
    TokenCreate,
    TokenCreated,
    WhoAmI,
)
from fpga_common.contract.base import Page

blueprint = APIBlueprint("access", __name__, tag="Access", url_prefix="/api/v1")

TOKEN_KEY: Final = TypeAdapter(tuple[str])


@blueprint.get("/whoami")
@requires(Role.VIEWER)
@blueprint.output(WhoAmI)
def whoami() -> WhoAmI:
    """The caller as the manager sees it."""
    caller = principal()
    return WhoAmI(name=caller.name, role=caller.role or Role.VIEWER, source=caller.source.value)


@blueprint.post("/sessions")
@requires(Role.VIEWER)
@blueprint.output(SessionCreated, status_code=201)
def create_session() -> SessionCreated:
    """Exchange the token of this request for a session."""
    own = services()
    lifetime = own.settings.access.session_seconds
    return tokens.create_session(own.ledger, own.clock, principal(), lifetime)


@blueprint.delete("/sessions/current")
@requires(Role.VIEWER)
@blueprint.output({}, status_code=204)
def end_session() -> str:
    """End the session that this request came with."""
    own = services()
    tokens.end_session(own.ledger, own.clock, bearer(), principal())
    return ""


@blueprint.get("/tokens")
@requires(Role.ADMIN)
@blueprint.input(PageQuery, location="query")
@blueprint.output(Page[Token])
def list_tokens(query_data: PageQuery) -> Page[Token]:
    """Every token, without its secret."""
    after = query_data.after(TOKEN_KEY)
    with services().ledger.reading() as session:
        found = tokens.list_tokens(
            session, after=after[0] if after else None, limit=query_data.limit + 1
        )
    return query_data.page(found, lambda token: [token.name])


@blueprint.post("/tokens")
@requires(Role.ADMIN)
@blueprint.input(TokenCreate)
@blueprint.output(TokenCreated, status_code=201)
def create_token(json_data: TokenCreate) -> TokenCreated:
    """Make a token; its secret is in this answer only."""
    own = services()
    return tokens.create_token(own.ledger, own.clock, json_data, principal())


@blueprint.delete("/tokens/<name>")
@requires(Role.ADMIN)
@blueprint.output({}, status_code=204)
def delete_token(name: str) -> str:
    """End a token and its sessions."""
    own = services()
    tokens.delete_token(own.ledger, own.clock, name)
    return ""
