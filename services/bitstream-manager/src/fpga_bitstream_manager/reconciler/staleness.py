"""Marks nodes that are not heard of, so that nothing stale is shown as fresh."""

from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from fpga_bitstream_manager.ledger import NodeRow
from fpga_bitstream_manager.nodes.freshness import Freshness
from fpga_bitstream_manager.nodes.heartbeats import Heartbeats


def mark_stale(session: Session, heartbeats: Heartbeats, now: datetime) -> tuple[str, ...]:
    """Write which nodes are stale and which are not; returns those that changed."""
    written = dict(session.execute(select(NodeRow.name, NodeRow.stale)).tuples().all())
    found = Freshness.of_all(session, heartbeats, now).stale
    changed = tuple(name for name, stale in written.items() if stale != (name in found))
    for name in changed:
        session.execute(update(NodeRow).where(NodeRow.name == name).values(stale=name in found))
    return changed
