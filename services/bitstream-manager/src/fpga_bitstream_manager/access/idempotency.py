"""``Idempotency-Key``: the same request sent twice is done once and answered the same.

Key, work and answer are one transaction: there is no moment in which the work is done and the
answer unknown. Called by services that a caller may ask twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from fpga_bitstream_manager.clock import Clock
from fpga_bitstream_manager.failures import Conflict, Invalid
from fpga_bitstream_manager.ledger import Document, IdempotencyRow, Ledger

KEPT: Final = timedelta(hours=24)
ACCEPTED: Final = 202


class IdempotencyKeyReused(Invalid):
    """The ``Idempotency-Key`` came before with another request. Use a new key for new requests."""

    code = "idempotency_key_reused"


class IdempotencyKeyInUse(Conflict):
    """The same request is being worked on in this moment. Ask again for its answer."""

    code = "idempotency_key_in_use"


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A caller's key. ``fingerprint`` is the SHA-256 of method, path and body."""

    actor: str
    key: str
    fingerprint: str


def answer_once(
    ledger: Ledger, clock: Clock, key: IdempotencyKey, work: Callable[[Session], Document]
) -> Document:
    """Do ``work`` in a transaction and keep its answer, or return the answer that was kept.

    Raises:
        IdempotencyKeyReused: the key belongs to another request.
        IdempotencyKeyInUse: the same request is being worked on.
    """
    now = clock()
    try:
        with ledger.transaction() as session:
            known = session.get(IdempotencyRow, (key.actor, key.key))
            if known is not None and known.created_at > now - KEPT:
                return _kept(known, key)
            if known is not None:
                session.delete(known)
                session.flush()
            return _work(session, key, work, now)
    except IntegrityError as error:
        raise IdempotencyKeyInUse(f"{key.key} is being worked on", actual=key.key) from error


def forget_old(session: Session, now: datetime) -> None:
    """Remove answers that are not kept any longer."""
    session.execute(delete(IdempotencyRow).where(IdempotencyRow.created_at <= now - KEPT))


def _kept(row: IdempotencyRow, key: IdempotencyKey) -> Document:
    if row.fingerprint != key.fingerprint:
        raise IdempotencyKeyReused(
            f"Idempotency-Key {key.key} came before with another request",
            expected="the request that the key first came with, or a new key",
        )
    if row.answer is None:
        raise IdempotencyKeyInUse(f"{key.key} is being worked on", actual=key.key)
    return row.answer


def _work(
    session: Session, key: IdempotencyKey, work: Callable[[Session], Document], now: datetime
) -> Document:
    row = IdempotencyRow(
        actor=key.actor,
        key=key.key,
        fingerprint=key.fingerprint,
        status=None,
        location=None,
        answer=None,
        created_at=now,
    )
    session.add(row)
    session.flush()
    row.answer = work(session)
    row.status = ACCEPTED
    return row.answer
