"""Tables of what the Kubernetes cluster was told of nodes. Written by the reconciler alone."""

from datetime import datetime

from sqlalchemy import ForeignKeyConstraint, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from fpga_bitstream_manager.ledger.base import Row


class ToldConditionRow(Row):
    """The last condition of a device or card that was written down for the cluster.

    A condition that differs is a change, and is told once; ``kind`` is ``device`` or ``card``.
    """

    __tablename__ = "told_conditions"
    __table_args__ = (ForeignKeyConstraint(["node"], ["nodes.name"], ondelete="CASCADE"),)

    node: Mapped[str] = mapped_column(String(253), primary_key=True)
    kind: Mapped[str] = mapped_column(String(8), primary_key=True)
    subject: Mapped[str] = mapped_column(String(253), primary_key=True)
    condition: Mapped[str] = mapped_column(String(16))


class NodeEventRow(Row):
    """An Event on a Node, written down before it is sent.

    ``id`` sorts by time and becomes a part of the Event's name, so that sending it again creates
    nothing; a failed load's Event has the load's id. ``sent_at`` is None until the API server has
    it.
    """

    __tablename__ = "node_events"
    __table_args__ = (Index(None, "sent_at", "id"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    node: Mapped[str] = mapped_column(String(253))
    reason: Mapped[str] = mapped_column(String(64))
    message: Mapped[str]
    warning: Mapped[bool]
    happened_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
