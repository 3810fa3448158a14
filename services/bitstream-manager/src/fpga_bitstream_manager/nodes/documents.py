"""Rows of nodes, devices and holders as answers of the API. Pure.

What a stale node last said of health is never shown as if it were true now.
"""

from collections.abc import Sequence
from datetime import datetime

from fpga_bitstream_manager.ledger import DeviceRow, HolderRow, NodeRow
from fpga_common.contract.inventory import FunctionDocument, ReasonDocument, VerdictDocument
from fpga_common.contract.nodes import Allocation, AllocationRef, Device, LoadRef, Node
from fpga_common.contract.report import NodeFacts, PoolReport
from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus, Severity


def node_document(
    row: NodeRow, *, stale: bool, last_seen_at: datetime, devices: int, healthy: int, held: int
) -> Node:
    """One node with its counts."""
    document = row.document
    return Node(
        name=row.name,
        stale=stale,
        last_seen_at=last_seen_at,
        facts=NodeFacts.model_validate(document["facts"]),
        pools=[PoolReport.model_validate(pool) for pool in document["pools"]],
        cards=document["cards"],
        devices=devices,
        devices_healthy=0 if stale else healthy,
        devices_held=held,
    )


def device_document(
    row: DeviceRow,
    *,
    stale: bool,
    last_seen_at: datetime,
    sensors: dict[str, float],
    holders: Sequence[HolderRow],
    load: LoadRef | None,
    desired_bitstream: str | None,
) -> Device:
    """One device with everything known of it."""
    document = row.document
    pci = document["pci"]
    return Device(
        node=row.node,
        id=row.id,
        card=row.card,
        backend=row.backend,
        model=row.model,
        vendor_device=row.vendor_device,
        pci=FunctionDocument.model_validate(pci) if pci else None,
        numa_node=row.numa_node,
        interface_id=row.interface_id,
        afu_id=row.afu_id,
        desired_afu_id=row.desired_afu_id,
        desired_bitstream=desired_bitstream,
        drift=is_drift(row),
        state=RegionState(row.state),
        reason=row.reason,
        cordoned=row.cordoned,
        health=shown_health(row, stale=stale, last_seen_at=last_seen_at),
        device_nodes=document["device_nodes"],
        sensors={} if stale else sensors,
        holder=_holder(holders),
        load=load,
        stale=stale,
        last_seen_at=last_seen_at,
    )


def is_drift(row: DeviceRow) -> bool:
    """Whether the AFU is known not to be the desired one."""
    return (
        row.desired_afu_id is not None
        and row.afu_id is not None
        and row.afu_id != row.desired_afu_id
    )


def shown_health(row: DeviceRow, *, stale: bool, last_seen_at: datetime) -> VerdictDocument:
    """The reported verdict, or ``unknown`` with the reason."""
    since = last_seen_at.timestamp()
    if stale:
        return _unknown("report", f"the node was last heard of at {last_seen_at:%F %T} UTC", since)
    if row.state == RegionState.MISSING:
        return _unknown("presence", row.reason, row.changed_at.timestamp())
    return VerdictDocument.model_validate(row.document["health"])


def allocation_document(row: HolderRow) -> Allocation:
    """Who holds a device."""
    return Allocation(
        node=row.node,
        device=row.device,
        resource=row.resource,
        namespace=row.namespace,
        pod=row.pod,
        container=row.container,
        source=row.source,
        since=row.since,
    )


def _unknown(check: str, message: str, since: float) -> VerdictDocument:
    reason = ReasonDocument(check=check, severity=Severity.FATAL, message=message, since=since)
    return VerdictDocument(status=HealthStatus.UNKNOWN, since=since, reasons=[reason])


def _holder(holders: Sequence[HolderRow]) -> AllocationRef | None:
    """The one holder that is shown: a pod rather than a process that nobody can name."""
    if not holders:
        return None
    row = min(holders, key=lambda holder: (holder.pod is None, holder.since))
    return AllocationRef(
        namespace=row.namespace,
        pod=row.pod,
        container=row.container,
        source=row.source,
        since=row.since,
    )
