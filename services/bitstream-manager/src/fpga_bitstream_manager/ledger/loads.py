"""Tables of loads, their attempts and their history, and of the reconciler's lease."""

from datetime import datetime
from typing import Final

from sqlalchemy import BigInteger, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from fpga_bitstream_manager.ledger.base import Row

_IN_FLIGHT: Final = text("state IN ('claimed', 'programming', 'verifying', 'cancelling')")
_OPEN: Final = text("finished_at IS NULL")


class LoadRow(Row):
    """One load. ``attempt`` fences every write of whoever runs it.

    ``lease_until`` is how long the runner's word is trusted; past it the reconciler asks the node.
    ``not_before`` holds a queued or waiting load back. ``dispatched_at`` is when a message for it
    was last sent. ``cancel_asked_at`` is when the node was told to stop. ``sequence`` is the number
    of its last event. ``waits`` counts how often it waited for its region.

    The first index is the ledger's word that a card runs one attempt at a time; a region is part
    of one card.
    """

    __tablename__ = "loads"
    __table_args__ = (
        Index(
            "uq_loads_in_flight_card",
            "node",
            "card",
            unique=True,
            sqlite_where=_IN_FLIGHT,
            postgresql_where=_IN_FLIGHT,
        ),
        Index(
            "ix_loads_open_card",
            "node",
            "card",
            "state",
            sqlite_where=_OPEN,
            postgresql_where=_OPEN,
        ),
        Index("ix_loads_state_id", "state", "id"),
        Index("ix_loads_node_device_id", "node", "device", "id"),
        Index("ix_loads_bitstream_digest_id", "bitstream_digest", "id"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    state: Mapped[str] = mapped_column(String(16))
    node: Mapped[str] = mapped_column(String(253))
    card: Mapped[str] = mapped_column(String(253))
    device: Mapped[str] = mapped_column(String(253))
    bitstream_digest: Mapped[str] = mapped_column(String(71))
    bitstream_name: Mapped[str] = mapped_column(String(128))
    bitstream_version: Mapped[str | None] = mapped_column(String(64))
    bitstream_format: Mapped[str] = mapped_column(String(16))
    bitstream_size_bytes: Mapped[int] = mapped_column(BigInteger)
    interface_id: Mapped[str | None] = mapped_column(String(32))
    wanted_afu_id: Mapped[str | None] = mapped_column(String(32))
    requested_by: Mapped[str] = mapped_column(String(253))
    priority: Mapped[str] = mapped_column(String(16))
    rank: Mapped[int]
    if_busy: Mapped[str] = mapped_column(String(8))
    persist: Mapped[bool]
    force: Mapped[bool]
    labels: Mapped[dict[str, str]]
    retry_of: Mapped[str | None] = mapped_column(String(32))
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    deadline_at: Mapped[datetime]
    not_before: Mapped[datetime | None]
    dispatched_at: Mapped[datetime | None]
    cancel_asked_at: Mapped[datetime | None]
    lease_until: Mapped[datetime | None]
    claimed_by: Mapped[str | None] = mapped_column(String(253))
    attempt: Mapped[int] = mapped_column(default=0)
    waits: Mapped[int] = mapped_column(default=0)
    sequence: Mapped[int] = mapped_column(default=0)
    phase: Mapped[str | None] = mapped_column(String(16))
    percent: Mapped[float] = mapped_column(default=0.0)
    message: Mapped[str] = mapped_column(default="")
    previous_afu_id: Mapped[str | None] = mapped_column(String(32))
    afu_id: Mapped[str | None] = mapped_column(String(32))
    error_code: Mapped[str | None] = mapped_column(String(32))
    error_message: Mapped[str | None]
    error_expected: Mapped[str | None]
    error_actual: Mapped[str | None]


class LoadAttemptRow(Row):
    """One try of a load."""

    __tablename__ = "load_attempts"

    load_id: Mapped[str] = mapped_column(
        ForeignKey("loads.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True)
    worker: Mapped[str] = mapped_column(String(253))
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    outcome: Mapped[str | None] = mapped_column(String(16))
    error_code: Mapped[str | None] = mapped_column(String(32))
    error_message: Mapped[str | None]
    error_expected: Mapped[str | None]
    error_actual: Mapped[str | None]


class LoadEventRow(Row):
    """One line of a load's history."""

    __tablename__ = "load_events"

    load_id: Mapped[str] = mapped_column(
        ForeignKey("loads.id", ondelete="CASCADE"), primary_key=True
    )
    sequence: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    state: Mapped[str] = mapped_column(String(16))
    attempt: Mapped[int]
    phase: Mapped[str | None] = mapped_column(String(16))
    percent: Mapped[float | None]
    message: Mapped[str]
    actor: Mapped[str] = mapped_column(String(253))


class LeaseRow(Row):
    """Who of several equal processes acts; the others stand by until ``until``."""

    __tablename__ = "leases"

    name: Mapped[str] = mapped_column(String(63), primary_key=True)
    holder: Mapped[str] = mapped_column(String(253))
    until: Mapped[datetime]
