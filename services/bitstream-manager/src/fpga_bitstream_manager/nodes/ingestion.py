"""Takes in what nodes report: rows are written when they change. Called by the internal API."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from fpga_bitstream_manager.clock import Clock
from fpga_bitstream_manager.ledger import DeviceRow, HolderRow, Ledger, NodeRow
from fpga_bitstream_manager.nodes.heartbeats import Heartbeats, Sensors
from fpga_bitstream_manager.nodes.values import (
    DeviceValues,
    devices_of,
    holder_values,
    node_document,
    sensors_of,
)
from fpga_common.contract.report import NodeHeartbeat, NodeReport, ReportAnswer
from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

VANISHED = "the node no longer reports it"


@dataclass(frozen=True, slots=True)
class Ingestion:
    """Takes in reports. ``node_changed`` hears of nodes whose devices or holders changed."""

    ledger: Ledger
    heartbeats: Heartbeats
    clock: Clock
    node_changed: Callable[[str], None]

    def heartbeat(self, beat: NodeHeartbeat) -> ReportAnswer:
        """A node lives and has nothing new. Raises LedgerUnavailable."""
        with self.ledger.reading() as session:
            row = session.get(NodeRow, beat.node)
            known = row is not None and row.report_digest == beat.digest
            came_back = row is not None and row.stale
            cordoned = _cordoned(session, beat.node)
        self.heartbeats.record(beat.node, self.clock(), _sensors(beat))
        if came_back:
            self.heartbeats.save()
            self.node_changed(beat.node)
        return ReportAnswer(full_report_wanted=not known, cordoned=cordoned)

    def report(self, report: NodeReport) -> ReportAnswer:
        """A full report. Raises LedgerUnavailable."""
        now = self.clock()
        with self.ledger.transaction() as session:
            changed = _write(session, report, now)
            cordoned = _cordoned(session, report.node)
        self.heartbeats.record(report.node, now, sensors_of(report))
        if changed:
            log.info("node_changed", node=report.node)
            self.node_changed(report.node)
        return ReportAnswer(cordoned=cordoned)


def _sensors(beat: NodeHeartbeat) -> Sensors | None:
    """What the heartbeat says of sensors; None from a plugin that does not send them with it."""
    return beat.sensors if "sensors" in beat.model_fields_set else None


def _write(session: Session, report: NodeReport, now: datetime) -> bool:
    row = session.get(NodeRow, report.node, with_for_update=True)
    is_new = row is None
    if row is None:
        row = NodeRow(name=report.node, first_seen_at=now)
        session.add(row)
    returned = not is_new and row.stale
    _write_node(row, report, now)
    session.flush()
    devices = _write_devices(session, report, now)
    holders = _write_holders(session, report)
    return is_new or returned or devices or holders


def _write_node(row: NodeRow, report: NodeReport, now: datetime) -> None:
    agent = report.agent
    _assign(
        row,
        {
            "agent_address": agent.address if agent else None,
            "agent_certificate": agent.certificate_pem if agent else None,
            "report_digest": report.digest,
            "stale": False,
            "document": node_document(report),
        },
    )
    row.last_seen_at = now


def _write_devices(session: Session, report: NodeReport, now: datetime) -> bool:
    reported = devices_of(report)
    rows = {
        row.id: row
        for row in session.scalars(select(DeviceRow).where(DeviceRow.node == report.node))
    }
    changed = [
        _write_device(session, report.node, rows.get(device), values, now)
        for device, values in reported.items()
    ]
    gone = [_mark_missing(row, now) for device, row in rows.items() if device not in reported]
    return any(changed) or any(gone)


def _write_device(
    session: Session, node: str, row: DeviceRow | None, values: DeviceValues, now: datetime
) -> bool:
    if row is None:
        session.add(DeviceRow(node=node, changed_at=now, cordoned=False, **asdict(values)))
        return True
    if not _assign(row, asdict(values)):
        return False
    row.changed_at = now
    return True


def _mark_missing(row: DeviceRow, now: datetime) -> bool:
    values = {
        "state": RegionState.MISSING.value,
        "reason": VANISHED,
        "health": HealthStatus.UNKNOWN.value,
    }
    if not _assign(row, values):
        return False
    row.changed_at = now
    return True


def _write_holders(session: Session, report: NodeReport) -> bool:
    wanted = [holder_values(holder) for holder in report.holders]
    rows = session.scalars(select(HolderRow).where(HolderRow.node == report.node)).all()
    present = [{name: getattr(row, name) for name in _HOLDER_COLUMNS} for row in rows]
    if sorted(present, key=_holder_order) == sorted(wanted, key=_holder_order):
        return False
    session.execute(delete(HolderRow).where(HolderRow.node == report.node))
    session.add_all(HolderRow(node=report.node, **values) for values in wanted)
    return True


def _holder_order(values: dict[str, Any]) -> list[str]:
    return [str(values[name]) for name in _HOLDER_COLUMNS]


_HOLDER_COLUMNS = ("device", "source", "namespace", "pod", "container", "resource", "since")


def _assign(row: Any, values: dict[str, Any]) -> bool:
    """Set what differs; True when something did."""
    changed = {name: value for name, value in values.items() if getattr(row, name) != value}
    for name, value in changed.items():
        setattr(row, name, value)
    return bool(changed)


def _cordoned(session: Session, node: str) -> list[str]:
    query = select(DeviceRow.id).where(DeviceRow.node == node, DeviceRow.cordoned.is_(True))
    return sorted(session.scalars(query))
