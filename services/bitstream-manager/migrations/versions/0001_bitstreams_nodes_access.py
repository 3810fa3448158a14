"""Bitstreams, nodes, devices, holders, tokens, sessions, audit, idempotency keys"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_access_tables()
    create_bitstream_tables()
    create_node_tables()


def time(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def text(name: str, length: int | None, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.String(length), nullable=nullable)


def create_access_tables() -> None:
    op.create_table(
        "tokens",
        text("name", 63),
        text("secret_hash", 64),
        text("role", 16),
        text("created_by", 253),
        time("created_at"),
        time("expires_at", nullable=True),
        time("last_used_at", nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_tokens"),
        sa.UniqueConstraint("secret_hash", name="uq_tokens_secret_hash"),
    )
    op.create_table(
        "sessions",
        text("secret_hash", 64),
        text("credential_hash", 64),
        text("name", 63),
        text("role", 16),
        time("created_at"),
        time("expires_at"),
        sa.PrimaryKeyConstraint("secret_hash", name="pk_sessions"),
    )
    op.create_index("ix_sessions_credential_hash", "sessions", ["credential_hash"])
    op.create_index("ix_sessions_expires_at", "sessions", ["expires_at"])
    op.create_table(
        "audit_events",
        sa.Column("id", sa.Integer, nullable=False),
        time("at"),
        text("actor", 253),
        text("action", 64),
        text("target", 512),
        text("outcome", 64),
        text("request_id", 64, nullable=True),
        sa.Column("detail", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_events"),
    )
    op.create_index("ix_audit_events_at", "audit_events", ["at"])
    op.create_index("ix_audit_events_target", "audit_events", ["target"])
    op.create_table(
        "idempotency_keys",
        text("actor", 253),
        text("key", 255),
        text("fingerprint", 64),
        sa.Column("status", sa.Integer, nullable=True),
        text("location", 512, nullable=True),
        sa.Column("answer", sa.JSON, nullable=True),
        time("created_at"),
        sa.PrimaryKeyConstraint("actor", "key", name="pk_idempotency_keys"),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"])


def create_bitstream_tables() -> None:
    op.create_table(
        "bitstreams",
        text("digest", 71),
        text("name", 128),
        text("version", 64, nullable=True),
        text("format", 16),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("payload_offset", sa.BigInteger, nullable=False),
        sa.Column("payload_size_bytes", sa.BigInteger, nullable=False),
        text("interface_id", 32, nullable=True),
        text("afu_id", 32, nullable=True),
        text("afu_name", 255, nullable=True),
        sa.Column("clocks_mhz", sa.JSON, nullable=False),
        sa.Column("checks", sa.JSON, nullable=False),
        text("uploaded_by", 253),
        time("uploaded_at"),
        sa.PrimaryKeyConstraint("digest", name="pk_bitstreams"),
    )
    for columns in (["name"], ["interface_id"], ["afu_id"], ["uploaded_at", "digest"]):
        op.create_index(f"ix_bitstreams_{'_'.join(columns)}", "bitstreams", columns)
    op.create_table(
        "bitstream_names",
        text("name", 128),
        text("version", 64),
        text("digest", 71),
        time("pointed_at"),
        sa.PrimaryKeyConstraint("name", "version", name="pk_bitstream_names"),
        sa.ForeignKeyConstraint(
            ["digest"],
            ["bitstreams.digest"],
            name="fk_bitstream_names_digest",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_bitstream_names_digest", "bitstream_names", ["digest"])


def create_node_tables() -> None:
    op.create_table(
        "nodes",
        text("name", 253),
        text("agent_address", 261, nullable=True),
        text("agent_certificate", None, nullable=True),
        text("report_digest", 128),
        time("first_seen_at"),
        time("last_seen_at"),
        sa.Column("stale", sa.Boolean, nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_nodes"),
    )
    op.create_index("ix_nodes_stale", "nodes", ["stale"])
    op.create_table(
        "devices",
        text("node", 253),
        text("id", 253),
        text("card", 253),
        text("backend", 32),
        text("model", 128),
        text("vendor_device", 16, nullable=True),
        sa.Column("numa_node", sa.Integer, nullable=True),
        text("interface_id", 32, nullable=True),
        text("afu_id", 32, nullable=True),
        text("state", 16),
        text("reason", None),
        text("health", 16),
        sa.Column("cordoned", sa.Boolean, nullable=False),
        text("desired_digest", 71, nullable=True),
        text("desired_afu_id", 32, nullable=True),
        time("changed_at"),
        sa.Column("document", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("node", "id", name="pk_devices"),
        sa.ForeignKeyConstraint(
            ["node"], ["nodes.name"], name="fk_devices_node", ondelete="CASCADE"
        ),
    )
    for column in ("model", "interface_id", "afu_id", "state", "health", "desired_digest"):
        op.create_index(f"ix_devices_{column}", "devices", [column])
    op.create_table(
        "holders",
        sa.Column("id", sa.Integer, nullable=False),
        text("node", 253),
        text("device", 253),
        text("source", 16),
        text("namespace", 253, nullable=True),
        text("pod", 253, nullable=True),
        text("container", 253, nullable=True),
        text("resource", 317, nullable=True),
        time("since"),
        sa.PrimaryKeyConstraint("id", name="pk_holders"),
        sa.ForeignKeyConstraint(
            ["node"], ["nodes.name"], name="fk_holders_node", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_holders_node_device", "holders", ["node", "device"])
    op.create_index("ix_holders_namespace", "holders", ["namespace"])
