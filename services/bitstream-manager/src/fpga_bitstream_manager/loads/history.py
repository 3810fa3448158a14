"""Writes a load: each change and its line of history together, only if nobody was faster.

Called by the other modules of ``loads``. Every change is a conditional UPDATE on the state and the
attempt that the caller saw; a change that comes too late raises ``Superseded`` and writes nothing.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from fpga_bitstream_manager.ledger.loads import LoadEventRow, LoadRow
from fpga_common.domain.errors import Permanent
from fpga_common.domain.load import LoadState, require_transition

MANAGER = "fpga-platform"


class Superseded(Permanent):
    """The load has gone on without the caller: its attempt is not the current one any more."""

    code = "superseded"


@dataclass(frozen=True, slots=True)
class Note:
    """What the history says of a change, and who made it."""

    at: datetime
    message: str
    actor: str = MANAGER


def new_id(now: datetime) -> str:
    """An id that sorts by time: 12 hex digits of milliseconds, 12 random ones."""
    return f"{int(now.timestamp() * 1000):012x}{secrets.token_hex(6)}"


def change(
    session: Session,
    row: LoadRow,
    following: LoadState,
    note: Note,
    **values: Any,
) -> None:
    """Move ``row`` to ``following`` (or keep its state) and write that down.

    Raises:
        IllegalTransition: the table does not have it.
        Superseded: state or attempt are not those of ``row`` any more.
    """
    current = LoadState(row.state)
    if following is not current:
        require_transition(current, following)
    values |= {"state": following.value, "message": note.message, "sequence": row.sequence + 1}
    if following.ended:
        values |= {"finished_at": note.at, "lease_until": None, "not_before": None}
    _write(session, row, values)
    append(session, row, note)


def append(session: Session, row: LoadRow, note: Note) -> None:
    """Add the line of history that belongs to ``row`` as it is now."""
    session.add(
        LoadEventRow(
            load_id=row.id,
            sequence=row.sequence,
            at=note.at,
            state=row.state,
            attempt=row.attempt,
            phase=row.phase,
            percent=row.percent,
            message=note.message,
            actor=note.actor,
        )
    )
    session.flush()


def _write(session: Session, row: LoadRow, values: dict[str, Any]) -> None:
    seen = (
        LoadRow.id == row.id,
        LoadRow.state == row.state,
        LoadRow.attempt == row.attempt,
        LoadRow.sequence == row.sequence,
    )
    statement = (
        update(LoadRow).where(*seen).values(**values).execution_options(synchronize_session=False)
    )
    result = cast("CursorResult[Any]", session.execute(statement))
    if result.rowcount != 1:
        raise Superseded(f"load {row.id} went on without attempt {row.attempt}")
    for name, value in values.items():
        set_committed_value(row, name, value)
