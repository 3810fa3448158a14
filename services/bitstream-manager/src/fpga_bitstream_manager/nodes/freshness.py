"""Which nodes were heard of lately. ``judge`` is pure; ``Freshness.of`` asks ledger and Redis."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from fpga_bitstream_manager.ledger import NodeRow
from fpga_bitstream_manager.nodes.heartbeats import Heartbeats
from fpga_common.domain.names import STALE_AFTER_SECONDS

STALE_AFTER: Final = timedelta(seconds=STALE_AFTER_SECONDS)


@dataclass(frozen=True, slots=True)
class Freshness:
    """When each node was last heard of, and which of them are stale."""

    last_seen: Mapping[str, datetime] = field(default_factory=dict)
    stale: frozenset[str] = frozenset()

    @classmethod
    def of_all(cls, session: Session, heartbeats: Heartbeats, now: datetime) -> "Freshness":
        """Every node's."""
        rows = session.execute(select(NodeRow.name, NodeRow.last_seen_at))
        saved = {row.name: row.last_seen_at for row in rows}
        return judge(saved, heartbeats.last_seen(), now)

    @classmethod
    def of(cls, rows: Iterable[NodeRow], heartbeats: Heartbeats, now: datetime) -> "Freshness":
        """These nodes'."""
        saved = {row.name: row.last_seen_at for row in rows}
        return judge(saved, heartbeats.last_seen(list(saved)), now)


def judge(saved: Mapping[str, datetime], heard: Mapping[str, datetime], now: datetime) -> Freshness:
    """The later of what the ledger saved and Redis heard counts."""
    last = {name: max(at, heard.get(name, at)) for name, at in saved.items()}
    return Freshness(last, frozenset(name for name, at in last.items() if now - at > STALE_AFTER))
