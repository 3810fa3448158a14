"""Nodes, devices and allocations as the API shows them. Called by handlers and the overview."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, case, exists, func, or_, select, tuple_
from sqlalchemy.orm import Session

from fpga_bitstream_manager.failures import UnknownDevice, UnknownNode
from fpga_bitstream_manager.ledger import BitstreamRow, DeviceRow, HolderRow, NodeRow
from fpga_bitstream_manager.ledger.loads import LoadRow
from fpga_bitstream_manager.nodes.documents import (
    allocation_document,
    device_document,
    node_document,
)
from fpga_bitstream_manager.nodes.freshness import Freshness
from fpga_bitstream_manager.nodes.heartbeats import Heartbeats
from fpga_common.contract.nodes import Allocation, Device, LoadRef, Node
from fpga_common.domain.health import HealthStatus
from fpga_common.domain.load import LoadState

DeviceKey = tuple[str, str]
HolderKey = tuple[str, str, int]
Devices = Select[DeviceRow]

_HELD = exists().where(HolderRow.node == DeviceRow.node, HolderRow.device == DeviceRow.id)
_DRIFT = and_(DeviceRow.desired_afu_id.is_not(None), DeviceRow.afu_id != DeviceRow.desired_afu_id)


@dataclass(frozen=True, slots=True)
class DeviceFilter:
    """Which devices; None means any. ``health`` is what is shown, so stale nodes' are unknown."""

    node: str | None = None
    health: str | None = None
    state: str | None = None
    model: str | None = None
    interface_id: str | None = None
    afu_id: str | None = None
    held: bool | None = None
    drift: bool | None = None


@dataclass(frozen=True, slots=True)
class NodeQueries:
    """Questions about nodes, each in the caller's session, as of ``now``."""

    session: Session
    heartbeats: Heartbeats
    now: datetime

    def nodes(
        self, *, after: str | None = None, limit: int, stale: bool | None = None
    ) -> list[Node]:
        """Nodes by name, from behind ``after``."""
        query = select(NodeRow).order_by(NodeRow.name).limit(limit)
        if after is not None:
            query = query.where(NodeRow.name > after)
        if stale is not None:
            names = self._all().stale
            query = query.where(NodeRow.name.in_(names) if stale else NodeRow.name.not_in(names))
        return self._node_documents(self.session.scalars(query).all())

    def node(self, name: str) -> Node:
        """One node. Raises UnknownNode."""
        row = self.session.get(NodeRow, name)
        if row is None:
            raise UnknownNode(f"no node {name!r} has ever reported", actual=name)
        return self._node_documents([row])[0]

    def devices(
        self, wanted: DeviceFilter, *, after: DeviceKey | None = None, limit: int
    ) -> list[Device]:
        """Devices by node and id, from behind ``after``."""
        query = select(DeviceRow).order_by(DeviceRow.node, DeviceRow.id).limit(limit)
        if after is not None:
            query = query.where(_behind(after))
        query = _by_columns(query, wanted)
        if wanted.health is not None:
            query = self._by_health(query, wanted.health)
        return self._device_documents(self.session.scalars(query).all())

    def device(self, node: str, device: str) -> Device:
        """One device. Raises UnknownNode, UnknownDevice."""
        if self.session.get(NodeRow, node) is None:
            raise UnknownNode(f"no node {node!r} has ever reported", actual=node)
        row = self.session.get(DeviceRow, (node, device))
        if row is None:
            raise UnknownDevice(f"{node} has no device {device!r}", actual=device)
        return self._device_documents([row])[0]

    def _by_health(self, query: Devices, health: str) -> Devices:
        stale = self._all().stale
        if health == HealthStatus.UNKNOWN:
            return query.where(or_(DeviceRow.health == health, DeviceRow.node.in_(stale)))
        return query.where(DeviceRow.health == health, DeviceRow.node.not_in(stale))

    def _all(self) -> Freshness:
        return Freshness.of_all(self.session, self.heartbeats, self.now)

    def _node_documents(self, rows: Sequence[NodeRow]) -> list[Node]:
        fresh = Freshness.of(rows, self.heartbeats, self.now)
        counts = self._counts([row.name for row in rows])
        return [
            node_document(
                row,
                stale=row.name in fresh.stale,
                last_seen_at=fresh.last_seen[row.name],
                **counts.get(row.name, {"devices": 0, "healthy": 0, "held": 0}),
            )
            for row in rows
        ]

    def _counts(self, nodes: list[str]) -> dict[str, dict[str, int]]:
        healthy = case((DeviceRow.health.in_(ALLOCATABLE), 1), else_=0)
        held = case((_HELD, 1), else_=0)
        query = (
            select(DeviceRow.node, func.count(), func.sum(healthy), func.sum(held))
            .where(DeviceRow.node.in_(nodes))
            .group_by(DeviceRow.node)
        )
        return {
            node: {"devices": devices, "healthy": good, "held": taken}
            for node, devices, good, taken in self.session.execute(query)
        }

    def _device_documents(self, rows: Sequence[DeviceRow]) -> list[Device]:
        names = sorted({row.node for row in rows})
        nodes = self.session.scalars(select(NodeRow).where(NodeRow.name.in_(names))).all()
        fresh = Freshness.of(nodes, self.heartbeats, self.now)
        sensors = self.heartbeats.sensors(names)
        keys = [(row.node, row.id) for row in rows]
        holders, loads = _holders(self.session, keys), _open_loads(self.session, keys)
        desired = _bitstream_labels(self.session, [row.desired_digest for row in rows])
        return [
            device_document(
                row,
                stale=row.node in fresh.stale,
                last_seen_at=fresh.last_seen[row.node],
                sensors=sensors.get(row.node, {}).get(row.card, {}),
                holders=holders.get((row.node, row.id), []),
                load=loads.get((row.node, row.id)),
                desired_bitstream=desired.get(row.desired_digest or ""),
            )
            for row in rows
        ]


ALLOCATABLE = (HealthStatus.HEALTHY.value, HealthStatus.WARNING.value)


def allocations(
    session: Session,
    *,
    node: str | None = None,
    namespace: str | None = None,
    after: HolderKey | None = None,
    limit: int,
) -> list[tuple[HolderKey, Allocation]]:
    """Who holds what with each one's sort key, from behind ``after``."""
    query = select(HolderRow).order_by(HolderRow.node, HolderRow.device, HolderRow.id)
    if node is not None:
        query = query.where(HolderRow.node == node)
    if namespace is not None:
        query = query.where(HolderRow.namespace == namespace)
    if after is not None:
        query = query.where(tuple_(HolderRow.node, HolderRow.device, HolderRow.id) > tuple_(*after))
    return [
        ((row.node, row.device, row.id), allocation_document(row))
        for row in session.scalars(query.limit(limit))
    ]


def _by_columns(query: Devices, wanted: DeviceFilter) -> Devices:
    for name in ("node", "state", "model", "interface_id", "afu_id"):
        value = getattr(wanted, name)
        if value is not None:
            query = query.where(getattr(DeviceRow, name) == value)
    if wanted.held is not None:
        query = query.where(_HELD if wanted.held else ~_HELD)
    if wanted.drift is not None:
        query = query.where(_DRIFT if wanted.drift else func.coalesce(_DRIFT, False).is_(False))
    return query


def _behind(key: DeviceKey) -> Any:
    node, device = key
    return or_(DeviceRow.node > node, and_(DeviceRow.node == node, DeviceRow.id > device))


def _holders(session: Session, keys: Sequence[DeviceKey]) -> dict[DeviceKey, list[HolderRow]]:
    query = select(HolderRow).where(tuple_(HolderRow.node, HolderRow.device).in_(keys))
    found: dict[DeviceKey, list[HolderRow]] = {}
    for row in session.scalars(query):
        found.setdefault((row.node, row.device), []).append(row)
    return found


_FURTHEST_FIRST = (
    LoadState.VERIFYING,
    LoadState.PROGRAMMING,
    LoadState.CANCELLING,
    LoadState.CLAIMED,
    LoadState.QUEUED,
    LoadState.WAITING,
)


def _open_loads(session: Session, keys: Sequence[DeviceKey]) -> dict[DeviceKey, LoadRef]:
    query = select(LoadRow.node, LoadRow.device, LoadRow.id, LoadRow.state).where(
        tuple_(LoadRow.node, LoadRow.device).in_(keys), LoadRow.finished_at.is_(None)
    )
    rows = sorted(session.execute(query), key=lambda row: _FURTHEST_FIRST.index(row.state))
    found: dict[DeviceKey, LoadRef] = {}
    for row in rows:
        found.setdefault((row.node, row.device), LoadRef(id=row.id, state=row.state))
    return found


def _bitstream_labels(session: Session, digests: Sequence[str | None]) -> dict[str, str]:
    wanted = {digest for digest in digests if digest}
    query = select(BitstreamRow.digest, BitstreamRow.name, BitstreamRow.version).where(
        BitstreamRow.digest.in_(wanted)
    )
    return {
        digest: f"{name}@{version}" if version else name
        for digest, name, version in session.execute(query)
    }
