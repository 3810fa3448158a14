"""Loads, their attempts and history, and the reconciler's lease"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

IN_FLIGHT = sa.text("state IN ('claimed', 'programming', 'verifying', 'cancelling')")
OPEN = sa.text("finished_at IS NULL")


def upgrade() -> None:
    create_loads()
    create_history()
    op.create_table(
        "leases",
        text("name", 63),
        text("holder", 253),
        time("until"),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
    )


def time(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def text(name: str, length: int | None, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.String(length), nullable=nullable)


def number(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer, nullable=False)


def error() -> list[sa.Column]:
    return [
        text("error_code", 32, nullable=True),
        text("error_message", None, nullable=True),
        text("error_expected", None, nullable=True),
        text("error_actual", None, nullable=True),
    ]


def create_loads() -> None:
    op.create_table(
        "loads",
        text("id", 32),
        text("state", 16),
        text("node", 253),
        text("card", 253),
        text("device", 253),
        text("bitstream_digest", 71),
        text("bitstream_name", 128),
        text("bitstream_version", 64, nullable=True),
        text("bitstream_format", 16),
        sa.Column("bitstream_size_bytes", sa.BigInteger, nullable=False),
        text("interface_id", 32, nullable=True),
        text("wanted_afu_id", 32, nullable=True),
        text("requested_by", 253),
        text("priority", 16),
        number("rank"),
        text("if_busy", 8),
        sa.Column("persist", sa.Boolean, nullable=False),
        sa.Column("force", sa.Boolean, nullable=False),
        sa.Column("labels", sa.JSON, nullable=False),
        text("retry_of", 32, nullable=True),
        time("created_at"),
        time("started_at", nullable=True),
        time("finished_at", nullable=True),
        time("deadline_at"),
        time("not_before", nullable=True),
        time("dispatched_at", nullable=True),
        time("cancel_asked_at", nullable=True),
        time("lease_until", nullable=True),
        text("claimed_by", 253, nullable=True),
        number("attempt"),
        number("waits"),
        number("sequence"),
        text("phase", 16, nullable=True),
        sa.Column("percent", sa.Double, nullable=False),
        text("message", None),
        text("previous_afu_id", 32, nullable=True),
        text("afu_id", 32, nullable=True),
        *error(),
        sa.PrimaryKeyConstraint("id", name="pk_loads"),
    )
    op.create_index(
        "uq_loads_in_flight_card",
        "loads",
        ["node", "card"],
        unique=True,
        sqlite_where=IN_FLIGHT,
        postgresql_where=IN_FLIGHT,
    )
    op.create_index(
        "ix_loads_open_card",
        "loads",
        ["node", "card", "state"],
        sqlite_where=OPEN,
        postgresql_where=OPEN,
    )
    op.create_index("ix_loads_state_id", "loads", ["state", "id"])
    op.create_index("ix_loads_node_device_id", "loads", ["node", "device", "id"])
    op.create_index("ix_loads_bitstream_digest_id", "loads", ["bitstream_digest", "id"])


def create_history() -> None:
    op.create_table(
        "load_attempts",
        text("load_id", 32),
        number("number"),
        text("worker", 253),
        time("started_at"),
        time("ended_at", nullable=True),
        text("outcome", 16, nullable=True),
        *error(),
        sa.PrimaryKeyConstraint("load_id", "number", name="pk_load_attempts"),
        sa.ForeignKeyConstraint(
            ["load_id"], ["loads.id"], name="fk_load_attempts_load_id", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "load_events",
        text("load_id", 32),
        number("sequence"),
        time("at"),
        text("state", 16),
        number("attempt"),
        text("phase", 16, nullable=True),
        sa.Column("percent", sa.Double, nullable=True),
        text("message", None),
        text("actor", 253),
        sa.PrimaryKeyConstraint("load_id", "sequence", name="pk_load_events"),
        sa.ForeignKeyConstraint(
            ["load_id"], ["loads.id"], name="fk_load_events_load_id", ondelete="CASCADE"
        ),
    )
