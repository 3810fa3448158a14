"""Finds what a load is about: bitstream, target, holder. Only reads the ledger."""

from sqlalchemy import case, select
from sqlalchemy.orm import Session

from fpga_bitstream_manager.bitstreams.catalogue import find_row
from fpga_bitstream_manager.failures import UnknownDevice, UnknownNode
from fpga_bitstream_manager.ledger import (
    DeviceRow,
    HolderRow,
    NodeRow,
)
from fpga_bitstream_manager.ledger.loads import LoadRow
from fpga_bitstream_manager.loads.refusals import UnknownLoad
from fpga_bitstream_manager.loads.values import BitstreamFacts, TargetFacts, TargetHolder
from fpga_common.domain.card import RegionState


def load_row(session: Session, load_id: str, *, lock: bool = False) -> LoadRow:
    """The load, locked for writing where asked. Raises UnknownLoad."""
    row = session.get(LoadRow, load_id, with_for_update=lock)
    if row is None:
        raise UnknownLoad(f"no load {load_id}", actual=load_id)
    return row


def target_facts(session: Session, node: str, device: str) -> TargetFacts | None:
    """What the ledger knows of a region, None where no node has reported it."""
    found = session.execute(
        select(DeviceRow, NodeRow)
        .join(NodeRow, NodeRow.name == DeviceRow.node)
        .where(DeviceRow.node == node, DeviceRow.id == device)
    ).one_or_none()
    if found is None:
        return None
    row, owner = found
    return TargetFacts(
        node=node,
        device=device,
        card=row.card,
        interface_id=row.interface_id,
        afu_id=row.afu_id,
        state=RegionState.RESERVED if row.cordoned else row.state,
        reason="cordoned" if row.cordoned else row.reason,
        stale=owner.stale,
        agent_address=owner.agent_address,
        agent_certificate=owner.agent_certificate,
        holder=_holder(session, node, device),
    )


def bitstream_of(row: LoadRow) -> BitstreamFacts:
    """The bitstream as it was when the load was asked for."""
    return BitstreamFacts(
        digest=row.bitstream_digest,
        name=row.bitstream_name,
        version=row.bitstream_version,
        format=row.bitstream_format,
        size_bytes=row.bitstream_size_bytes,
        interface_id=row.interface_id,
        afu_id=row.wanted_afu_id,
    )


def _holder(session: Session, node: str, device: str) -> TargetHolder | None:
    row = session.scalars(
        select(HolderRow)
        .where(HolderRow.node == node, HolderRow.device == device)
        .order_by(case((HolderRow.pod.is_not(None), 0), else_=1), HolderRow.id)
        .limit(1)
    ).one_or_none()
    return TargetHolder(row.source, row.namespace, row.pod) if row else None


def find_bitstream(session: Session, reference: str) -> BitstreamFacts:
    """The bitstream that a digest, a name or ``name@version`` means. Raises UnknownBitstream."""
    row = find_row(session, reference)
    return BitstreamFacts(
        digest=row.digest,
        name=row.name,
        version=row.version,
        format=row.format,
        size_bytes=row.size_bytes,
        interface_id=row.interface_id,
        afu_id=row.afu_id,
    )


def find_target(session: Session, node: str, device: str) -> TargetFacts:
    """What the ledger knows of a region. Raises UnknownNode, UnknownDevice."""
    if session.get(NodeRow, node) is None:
        raise UnknownNode(f"no node {node} has ever reported", actual=node)
    target = target_facts(session, node, device)
    if target is None:
        raise UnknownDevice(f"node {node} has no device {device}", actual=device)
    return target
