"""Marks nodes that are not heard of, so that nothing stale is shown as fresh."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from fpga_bitstream_manager.ledger import NodeRow
from fpga_bitstream_manager.nodes.freshness import judge


@dataclass(frozen=True, slots=True)
class Turned:
    """Nodes that are not heard of any more, and nodes that are heard of again."""

    gone: tuple[str, ...]
    returned: tuple[str, ...]


def mark_stale(session: Session, heard: Mapping[str, datetime], now: datetime) -> Turned:
    """Write which nodes are stale and which are not; ``heard`` is what Redis knows."""
    rows = session.execute(select(NodeRow.name, NodeRow.last_seen_at, NodeRow.stale)).all()
    written = {row.name: row.stale for row in rows}
    found = judge({row.name: row.last_seen_at for row in rows}, heard, now).stale
    turned = Turned(
        gone=tuple(name for name, stale in written.items() if name in found and not stale),
        returned=tuple(name for name, stale in written.items() if stale and name not in found),
    )
    for names, stale in ((turned.gone, True), (turned.returned, False)):
        if names:
            session.execute(update(NodeRow).where(NodeRow.name.in_(names)).values(stale=stale))
    return turned
