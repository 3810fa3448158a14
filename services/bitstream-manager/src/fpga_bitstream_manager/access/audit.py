"""Audit rows: who changed what, and who was refused.

A service writes a change's row in the change's own transaction; the API writes refusals. Who asks
comes from the request's scope, so that no service has to pass it on.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from sqlalchemy.orm import Session

from fpga_bitstream_manager.clock import Clock
from fpga_bitstream_manager.ledger import AuditRow

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
