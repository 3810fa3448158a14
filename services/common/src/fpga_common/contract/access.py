"""Who is asking: tokens, sessions, roles."""

from enum import StrEnum

from pydantic import Field

from fpga_common.contract.base import Answer, Request, Timestamp


class Role(StrEnum):
    """What a token may do: each role includes the ones before it."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


class WhoAmI(Answer):
    """The caller as the manager sees it."""

    name: str
    role: Role
    source: str


class SessionCreated(Answer):
    """An opaque session for a browser console; shown once, stored hashed."""

    session: str
    name: str
    role: Role
    expires_at: Timestamp


class TokenCreate(Request):
    """A token to make."""

    name: str = Field(min_length=1, max_length=63)
    role: Role
    expires_in_seconds: float | None = Field(default=None, gt=0)


class Token(Answer):
    """A token without its secret."""

    name: str
    role: Role
    created_at: Timestamp
    expires_at: Timestamp | None = None
    last_used_at: Timestamp | None = None


class TokenCreated(Token):
    """A new token; ``secret`` is shown this once and stored hashed."""

    secret: str
