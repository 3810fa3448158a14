"""What the cluster was told, and Events that it shall be told"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "told_conditions",
        sa.Column("node", sa.String(253), nullable=False),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("subject", sa.String(253), nullable=False),
        sa.Column("condition", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("node", "kind", "subject", name="pk_told_conditions"),
        sa.ForeignKeyConstraint(
            ["node"], ["nodes.name"], name="fk_told_conditions_node", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "node_events",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("node", sa.String(253), nullable=False),
        sa.Column("reason", sa.String(64), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("warning", sa.Boolean, nullable=False),
        sa.Column("happened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_node_events"),
    )
    op.create_index("ix_node_events_sent_at_id", "node_events", ["sent_at", "id"])
