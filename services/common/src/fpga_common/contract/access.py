"""Who is asking: tokens, sessions, roles."""

from enum import StrEnum
from typing import Final

from pydantic import Field

from fpga_common.contract.base import Answer, Request, Timestamp

LONGEST_TOKEN_SECONDS: Final = 10 * 366 * 86400.0


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

    name: str = Field(
        min_length=1, max_length=63, pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
    )
    role: Role
    expires_in_seconds: float | None = Field(default=None, gt=0, le=LONGEST_TOKEN_SECONDS)


class Token(Answer):
    """A token without its secret."""

    name: str
    role: Role
    created_at: Timestamp
    expires_at: Timestamp | None = None
    last_used_at: Timestamp | None = None


class AuditEvent(Answer):
    """One change or refusal. ``outcome`` is ``done`` or a problem's code."""

    id: int
    at: Timestamp
    actor: str
    action: str
    target: str
    outcome: str
    request_id: str | None = None
    detail: dict[str, str | int | float | bool | None] = Field(default_factory=dict)


class TokenCreated(Token):
    """A new token; ``secret`` is shown this once and stored hashed."""

    secret: str
