"""Tables of what nodes report."""

from datetime import datetime

from sqlalchemy import ForeignKeyConstraint, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from fpga_bitstream_manager.ledger.base import Document, Row


class NodeRow(Row):
    """One node. ``document`` holds its facts, pools and cards as reported, without sensors.

    ``last_seen_at`` may be older than the heartbeat in Redis. ``stale`` is the reconciler's.
    """

    __tablename__ = "nodes"

    name: Mapped[str] = mapped_column(String(253), primary_key=True)
    agent_address: Mapped[str | None] = mapped_column(String(261))
    agent_certificate: Mapped[str | None]
    report_digest: Mapped[str] = mapped_column(String(128))
    first_seen_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]
    stale: Mapped[bool] = mapped_column(default=False, index=True)
    document: Mapped[Document]


class DeviceRow(Row):
    """One device of a node. ``id`` is the device's id on its node.

    ``health`` is the last reported word: what is shown for a stale node is ``unknown``.
    ``desired_digest`` and ``desired_afu_id`` belong to loads, ``cordoned`` to administrators;
    a report never changes these three.
    """

    __tablename__ = "devices"
    __table_args__ = (
        ForeignKeyConstraint(["node"], ["nodes.name"], ondelete="CASCADE"),
        Index(None, "health"),
        Index(None, "state"),
    )

    node: Mapped[str] = mapped_column(String(253), primary_key=True)
    id: Mapped[str] = mapped_column(String(253), primary_key=True)
    card: Mapped[str] = mapped_column(String(253))
    backend: Mapped[str] = mapped_column(String(32))
    model: Mapped[str] = mapped_column(String(128), index=True)
    vendor_device: Mapped[str | None] = mapped_column(String(16))
    numa_node: Mapped[int | None]
    interface_id: Mapped[str | None] = mapped_column(String(32), index=True)
    afu_id: Mapped[str | None] = mapped_column(String(32), index=True)
    state: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str]
    health: Mapped[str] = mapped_column(String(16))
    cordoned: Mapped[bool] = mapped_column(default=False)
    desired_digest: Mapped[str | None] = mapped_column(String(71), index=True)
    desired_afu_id: Mapped[str | None] = mapped_column(String(32))
    changed_at: Mapped[datetime]
    document: Mapped[Document]


class HolderRow(Row):
    """Who holds a device, as the node last reported."""

    __tablename__ = "holders"
    __table_args__ = (
        ForeignKeyConstraint(["node"], ["nodes.name"], ondelete="CASCADE"),
        Index(None, "node", "device"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    node: Mapped[str] = mapped_column(String(253))
    device: Mapped[str] = mapped_column(String(253))
    source: Mapped[str] = mapped_column(String(16))
    namespace: Mapped[str | None] = mapped_column(String(253), index=True)
    pod: Mapped[str | None] = mapped_column(String(253))
    container: Mapped[str | None] = mapped_column(String(253))
    resource: Mapped[str | None] = mapped_column(String(317))
    since: Mapped[datetime]
