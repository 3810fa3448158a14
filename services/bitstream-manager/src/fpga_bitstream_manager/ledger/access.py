"""Tables of who may call, who called, and what was answered before."""

from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from fpga_bitstream_manager.ledger.base import Document, Row


class TokenRow(Row):
    """A token; only the SHA-256 of its secret is kept."""

    __tablename__ = "tokens"

    name: Mapped[str] = mapped_column(String(63), primary_key=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    role: Mapped[str] = mapped_column(String(16))
    created_by: Mapped[str] = mapped_column(String(253))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class SessionRow(Row):
    """A console session; it ends with the credential that it was made from."""

    __tablename__ = "sessions"

    secret_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    credential_hash: Mapped[str] = mapped_column(String(64), index=True)
    name: Mapped[str] = mapped_column(String(63))
    role: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class AuditRow(Row):
    """One change or refusal. ``outcome`` is ``done`` or the problem's code."""

    __tablename__ = "audit_events"
    __table_args__ = (Index(None, "target"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)
    actor: Mapped[str] = mapped_column(String(253))
    action: Mapped[str] = mapped_column(String(64))
    target: Mapped[str] = mapped_column(String(512))
    outcome: Mapped[str] = mapped_column(String(64))
    request_id: Mapped[str | None] = mapped_column(String(64))
    detail: Mapped[Document]


class IdempotencyRow(Row):
    """The answer to a request with an ``Idempotency-Key``; ``status`` is None while it runs.

    ``fingerprint`` is the SHA-256 of method, path and body.
    """

    __tablename__ = "idempotency_keys"

    actor: Mapped[str] = mapped_column(String(253), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(64))
    status: Mapped[int | None]
    location: Mapped[str | None] = mapped_column(String(512))
    answer: Mapped[Document | None]
    created_at: Mapped[datetime] = mapped_column(index=True)
