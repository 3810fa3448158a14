"""Audit rows: who changed what, and who was refused.

A service writes a change's row in the change's own transaction; the API writes refusals. Who asks
comes from the request's scope, so that no service has to pass it on.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from fpga_bitstream_manager.clock import Clock
from fpga_bitstream_manager.ledger import AuditRow
from fpga_common.contract.access import AuditEvent

DONE: Final = "done"
LONGEST_TARGET: Final = 512


@dataclass(slots=True)
class Scope:
    """Who does what is done now. ``recorded`` tells whether a row was written."""

    actor: str
    request_id: str | None = None
    recorded: bool = False


_SYSTEM: Final = "system"
_scope: ContextVar[Scope | None] = ContextVar("audit_scope", default=None)


def current_scope() -> Scope:
    """The scope of the request, or one of the system itself."""
    return _scope.get() or Scope(_SYSTEM)


def enter_scope(scope: Scope) -> None:
    """Set the scope of this request's thread; a new request replaces it."""
    _scope.set(scope)


def record(
    session: Session,
    clock: Clock,
    action: str,
    target: str,
    *,
    outcome: str = DONE,
    **detail: str | int | float | bool | None,
) -> None:
    """Add one row to the caller's transaction. ``detail`` must hold nothing secret."""
    scope = current_scope()
    session.add(
        AuditRow(
            at=clock(),
            actor=scope.actor,
            action=action,
            target=target[:LONGEST_TARGET],
            outcome=outcome,
            request_id=scope.request_id,
            detail=dict(detail),
        )
    )
    scope.recorded = True


def list_events(
    session: Session, *, actor: str | None, action: str | None, before: int | None, limit: int
) -> list[AuditEvent]:
    """Rows, newest first, older than number ``before``."""
    query = select(AuditRow).order_by(AuditRow.id.desc()).limit(limit)
    if actor is not None:
        query = query.where(AuditRow.actor == actor)
    if action is not None:
        query = query.where(AuditRow.action == action)
    if before is not None:
        query = query.where(AuditRow.id < before)
    return [event_document(row) for row in session.scalars(query)]


def event_document(row: AuditRow) -> AuditEvent:
    """A row as the API shows it."""
    return AuditEvent(
        id=row.id,
        at=row.at,
        actor=row.actor,
        action=row.action,
        target=row.target,
        outcome=row.outcome,
        request_id=row.request_id,
        detail=row.detail,
    )
