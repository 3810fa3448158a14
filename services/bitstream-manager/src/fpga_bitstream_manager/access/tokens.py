"""Tokens and sessions in the ledger. Called by the API; knows nothing of HTTP."""

from datetime import timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from fpga_bitstream_manager.access.audit import record
from fpga_bitstream_manager.access.principal import Principal, Source
from fpga_bitstream_manager.access.secrets import hash_of, new_secret
from fpga_bitstream_manager.clock import Clock
from fpga_bitstream_manager.failures import Conflict, NotAllowed, NotFound
from fpga_bitstream_manager.ledger import Ledger, SessionRow, TokenRow
from fpga_common.contract.access import Role, SessionCreated, Token, TokenCreate, TokenCreated

#: Actors of the audit log that are no token.
RESERVED_NAMES = frozenset({"admin", "anonymous", "fpga-platform", "system"})


class TokenNameTaken(Conflict):
    """A token of this name exists. Take another name, or delete the old token first."""

    code = "token_name_taken"


class UnknownToken(NotFound):
    """There is no token of this name. ``fpgactl token list`` shows them."""

    code = "unknown_token"


class NotASession(NotAllowed):
    """Only a session can do this: the request came with a token, or with a session where a token
    is needed.
    """

    code = "not_a_session"


def create_token(ledger: Ledger, clock: Clock, request: TokenCreate, by: Principal) -> TokenCreated:
    """Make a token; the answer holds its secret, the ledger only the hash.

    Raises TokenNameTaken.
    """
    now, secret = clock(), new_secret()
    lifetime = request.expires_in_seconds
    with ledger.transaction() as session:
        taken = session.get(TokenRow, request.name) is not None
        if taken or request.name in RESERVED_NAMES:
            raise TokenNameTaken(f"the name {request.name!r} is in use")
        row = TokenRow(
            name=request.name,
            secret_hash=hash_of(secret),
            role=request.role.value,
            created_by=by.actor,
            created_at=now,
            expires_at=now + timedelta(seconds=lifetime) if lifetime else None,
            last_used_at=None,
        )
        session.add(row)
        record(session, clock, "token.create", request.name, role=request.role.value)
    return TokenCreated(**token_document(row).model_dump(), secret=secret)


def delete_token(ledger: Ledger, clock: Clock, name: str) -> None:
    """End a token and its sessions. Raises UnknownToken."""
    with ledger.transaction() as session:
        row = session.get(TokenRow, name)
        if row is None:
            raise UnknownToken(f"there is no token named {name!r}")
        session.execute(delete(SessionRow).where(SessionRow.credential_hash == row.secret_hash))
        session.delete(row)
        record(session, clock, "token.delete", name)


def list_tokens(session: Session, *, after: str | None, limit: int) -> list[Token]:
    """Tokens by name, from behind ``after``."""
    query = select(TokenRow).order_by(TokenRow.name).limit(limit)
    if after is not None:
        query = query.where(TokenRow.name > after)
    return [token_document(row) for row in session.scalars(query)]


def token_document(row: TokenRow) -> Token:
    """A token without its secret."""
    return Token(
        name=row.name,
        role=Role(row.role),
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
    )


def create_session(
    ledger: Ledger, clock: Clock, by: Principal, lifetime_seconds: float
) -> SessionCreated:
    """Exchange a token for a session. Raises NotASession for a session's own request."""
    if by.source is Source.SESSION or by.role is None:
        raise NotASession("a session is made with a token")
    now, secret = clock(), new_secret()
    expires = now + timedelta(seconds=lifetime_seconds)
    with ledger.transaction() as session:
        session.execute(delete(SessionRow).where(SessionRow.expires_at <= now))
        session.add(
            SessionRow(
                secret_hash=hash_of(secret),
                credential_hash=by.credential,
                name=by.name,
                role=by.role.value,
                created_at=now,
                expires_at=expires,
            )
        )
        record(session, clock, "session.create", by.name)
    return SessionCreated(session=secret, name=by.name, role=by.role, expires_at=expires)


def end_session(ledger: Ledger, clock: Clock, secret: str, by: Principal) -> None:
    """End the session that ``secret`` is of. Raises NotASession."""
    if by.source is not Source.SESSION:
        raise NotASession("the request came with a token, not with a session")
    with ledger.transaction() as session:
        session.execute(delete(SessionRow).where(SessionRow.secret_hash == hash_of(secret)))
        record(session, clock, "session.end", by.name)
