"""Nodes as rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from fpga_common.contract.nodes import Node
from fpga_common.contract.report import PoolReport
from fpga_web.presenters.moments import Moment, moment
from fpga_web.presenters.status import NODE_REPORTING, NODE_STALE, Status


@dataclass(frozen=True, slots=True)
class PoolCell:
    """One resource of a node as the kubelet knows it."""

    resource: str
    registered: bool
    counts: str
    error: str


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One line of the list. Counts of a stale node are None: they are not known."""

    name: str
    status: Status
    cards: int
    devices: int
    healthy: int | None
    held: int | None
    pools: tuple[PoolCell, ...]
    plugin: str
    kernel: str
    drivers: str
    seen: Moment | None


def rows(nodes: Iterable[Node], now: datetime) -> tuple[NodeRow, ...]:
    """The lines of the list: silent nodes first, then by name."""
    return tuple(_row(node, now) for node in sorted(nodes, key=lambda n: (not n.stale, n.name)))


def _row(node: Node, now: datetime) -> NodeRow:
    facts = node.facts
    return NodeRow(
        name=node.name,
        status=NODE_STALE if node.stale else NODE_REPORTING,
        cards=node.cards,
        devices=node.devices,
        healthy=None if node.stale else node.devices_healthy,
        held=None if node.stale else node.devices_held,
        pools=tuple(_pool(pool) for pool in node.pools),
        plugin=facts.plugin_version or "",
        kernel=facts.kernel or "",
        drivers=", ".join(facts.drivers),
        seen=moment(node.last_seen_at, now),
    )


def _pool(pool: PoolReport) -> PoolCell:
    return PoolCell(
        resource=pool.resource,
        registered=pool.registered,
        counts=f"{pool.healthy}/{len(pool.devices)}",
        error=pool.registration_error or "",
    )
