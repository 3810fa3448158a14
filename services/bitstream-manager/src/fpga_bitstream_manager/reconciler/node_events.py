"""Writes down what the cluster shall hear of, and sends it as Events on Nodes.

Called by ``cluster_round``. A change and its Event are written in one transaction, and the Event's
name comes from its row: whatever is killed in between, a change is told once. The cluster itself
forgets Events after an hour, so older ones are not sent any more.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from fpga_bitstream_manager.clock import Clock, utc_now
from fpga_bitstream_manager.cluster import Cluster, ClusterRefused, Notice
from fpga_bitstream_manager.cluster.announcements import (
    Announcement,
    Change,
    Condition,
    Subject,
    SubjectKind,
    changes,
    findings,
    of_failed_load,
)
from fpga_bitstream_manager.ledger import Ledger, NodeEventRow, ToldConditionRow
from fpga_bitstream_manager.loads.history import new_id
from fpga_bitstream_manager.reconciler.cluster_views import devices_by_node, unannounced_failures
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

WORTH_TELLING: Final = timedelta(hours=1)
#: Longer than failed loads are looked for, so that each is found announced.
KEPT: Final = 2 * WORTH_TELLING
_NODES_AT_A_TIME: Final = 200
_EVENTS_AT_A_TIME: Final = 100


class NodeEvents:
    """Every call raises LedgerUnavailable."""

    def __init__(self, ledger: Ledger, cluster: Cluster, clock: Clock = utc_now) -> None:
        self._ledger = ledger
        self._cluster = cluster
        self._clock = clock

    def record(self, nodes: Collection[str]) -> None:
        """Write down what changed on these nodes, and every failed load; asks no API server."""
        names = sorted(nodes)
        for start in range(0, len(names), _NODES_AT_A_TIME):
            self._record_changes(names[start : start + _NODES_AT_A_TIME])
        self._record_failures()

    def send(self, deadline: float) -> None:
        """Send what is written down until ``deadline`` (monotonic seconds).

        Raises ClusterUnavailable, and ClusterRefused where the right is missing.
        """
        for row in self._unsent():
            if time.monotonic() >= deadline:
                return
            self._send(row)
            self._mark_sent(row)

    def _record_changes(self, nodes: Sequence[str]) -> None:
        with self._ledger.reading() as session:
            concerned = [node for node, found in _changes(session, nodes).items() if found]
        if not concerned:
            return
        now = self._clock()
        with self._ledger.transaction() as session:
            for node, found in _changes(session, concerned).items():
                for change in found:
                    _write_change(session, node, change, now)
            _forget_old(session, now)

    def _record_failures(self) -> None:
        since = self._clock() - WORTH_TELLING
        with self._ledger.reading() as session:
            if not unannounced_failures(session, since=since):
                return
        with self._ledger.transaction() as session:
            for node, at, load in unannounced_failures(session, since=since):
                session.add(_row(load.id, node, of_failed_load(load), at))
            _forget_old(session, self._clock())

    def _unsent(self) -> Sequence[NodeEventRow]:
        query = (
            select(NodeEventRow)
            .where(
                NodeEventRow.sent_at.is_(None),
                NodeEventRow.happened_at > self._clock() - WORTH_TELLING,
            )
            .order_by(NodeEventRow.id)
            .limit(_EVENTS_AT_A_TIME)
        )
        with self._ledger.reading() as session:
            return session.scalars(query).all()

    def _send(self, row: NodeEventRow) -> None:
        try:
            self._cluster.notify(_notice(row))
        except ClusterRefused as refused:
            if refused.lacks_right:
                raise
            log.warning("node_event_refused", node=row.node, id=row.id, reason=refused.message)
        else:
            log.info("node_event_sent", node=row.node, id=row.id, about=row.reason)

    def _mark_sent(self, row: NodeEventRow) -> None:
        statement = update(NodeEventRow).where(NodeEventRow.id == row.id)
        with self._ledger.transaction() as session:
            session.execute(statement.values(sent_at=self._clock()))


def _changes(session: Session, nodes: Sequence[str]) -> dict[str, list[Change]]:
    told = _told(session, nodes)
    return {
        node: changes(told[node], findings(devices))
        for node, devices in devices_by_node(session, nodes).items()
    }


def _told(session: Session, nodes: Sequence[str]) -> Mapping[str, dict[Subject, Condition]]:
    """What was told of each node; locked where a transaction is about to change it."""
    known: dict[str, dict[Subject, Condition]] = {node: {} for node in nodes}
    query = select(ToldConditionRow).where(ToldConditionRow.node.in_(nodes)).with_for_update()
    for row in session.scalars(query):
        subject = Subject(SubjectKind(row.kind), row.subject)
        known[row.node][subject] = Condition(row.condition)
    return known


def _write_change(session: Session, node: str, change: Change, now: datetime) -> None:
    session.merge(
        ToldConditionRow(
            node=node,
            kind=change.subject.kind.value,
            subject=change.subject.name,
            condition=change.condition.value,
        )
    )
    if change.announcement is not None:
        session.add(_row(new_id(now), node, change.announcement, now))


def _row(row_id: str, node: str, announcement: Announcement, at: datetime) -> NodeEventRow:
    return NodeEventRow(
        id=row_id,
        node=node,
        reason=announcement.reason,
        message=announcement.message,
        warning=announcement.warning,
        happened_at=at,
    )


def _forget_old(session: Session, now: datetime) -> None:
    session.execute(delete(NodeEventRow).where(NodeEventRow.happened_at < now - KEPT))


def _notice(row: NodeEventRow) -> Notice:
    """``uid`` is the node's name, as the kubelet's own Events have it: ``kubectl describe node``
    looks for that.
    """
    return Notice(
        kind="Node",
        name=row.node,
        reason=row.reason,
        message=row.message,
        warning=row.warning,
        uid=row.node,
        key=row.id,
        at=row.happened_at,
    )
