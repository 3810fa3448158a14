"""What the ledger holds for the cluster: devices by node, and loads that failed lately."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from fpga_bitstream_manager.cluster.announcements import FailedLoad
from fpga_bitstream_manager.cluster.devices import ReportedDevice
from fpga_bitstream_manager.ledger import DeviceRow, NodeEventRow, NodeRow
from fpga_bitstream_manager.ledger.loads import LoadRow
from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus, Severity
from fpga_common.domain.load import LoadState

#: A load's id begins with the time of its request, and no load is open for longer (its deadline
#: is at most 7 days): the ids bound the rows that are looked at.
LONGEST_LOAD: Final = timedelta(days=8)
_BATCH: Final = 500


def reporting_nodes(session: Session) -> list[str]:
    """Nodes that are not stale, by name."""
    query = select(NodeRow.name).where(NodeRow.stale.is_(False)).order_by(NodeRow.name)
    return list(session.scalars(query))


def changed_nodes(session: Session, since: datetime | None) -> set[str]:
    """Nodes with a device that changed since then; None: all that have one."""
    query = select(DeviceRow.node).distinct()
    if since is not None:
        query = query.where(DeviceRow.changed_at >= since)
    return set(session.scalars(query))


def devices_by_node(session: Session, nodes: Collection[str]) -> dict[str, list[ReportedDevice]]:
    """The devices of these nodes; every node is there."""
    found: dict[str, list[ReportedDevice]] = {node: [] for node in nodes}
    query = select(DeviceRow).where(DeviceRow.node.in_(nodes)).order_by(DeviceRow.id)
    for row in session.scalars(query):
        found[row.node].append(_reported(row))
    return found


def unannounced_failures(
    session: Session, *, since: datetime
) -> list[tuple[str, datetime, FailedLoad]]:
    """Loads that failed after ``since`` and have no Event: node, when, and the load."""
    first_id = f"{int((since - LONGEST_LOAD).timestamp() * 1000):012x}"
    query = (
        select(LoadRow)
        .outerjoin(NodeEventRow, NodeEventRow.id == LoadRow.id)
        .where(
            LoadRow.state == LoadState.FAILED,
            LoadRow.id >= first_id,
            LoadRow.finished_at > since,
            NodeEventRow.id.is_(None),
        )
        .order_by(LoadRow.id)
        .limit(_BATCH)
    )
    return [(row.node, row.finished_at or since, _failed(row)) for row in session.scalars(query)]


def _reported(row: DeviceRow) -> ReportedDevice:
    return ReportedDevice(
        id=row.id,
        card=row.card,
        model=row.model,
        interface_id=row.interface_id,
        state=RegionState(row.state),
        health=HealthStatus(row.health),
        cause=_cause(row),
    )


def _cause(row: DeviceRow) -> str:
    if row.state == RegionState.MISSING:
        return row.reason
    reasons = row.document.get("health", {}).get("reasons", [])
    fatal = [reason["message"] for reason in reasons if reason["severity"] == Severity.FATAL]
    return "; ".join(fatal) or row.reason


def _failed(row: LoadRow) -> FailedLoad:
    version = f"@{row.bitstream_version}" if row.bitstream_version else ""
    return FailedLoad(
        id=row.id,
        device=row.device,
        bitstream=row.bitstream_name + version,
        message=row.error_message or row.message,
        expected=row.error_expected,
        actual=row.error_actual,
    )
