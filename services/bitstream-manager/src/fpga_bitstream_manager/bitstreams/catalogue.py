"""What is stored: lists, looks up, deletes. Called by the API."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, func, or_, select, tuple_
from sqlalchemy.orm import Session

from fpga_bitstream_manager.access.audit import record
from fpga_bitstream_manager.bitstreams.documents import bitstream_document
from fpga_bitstream_manager.bitstreams.names import Label, is_digest, split_reference
from fpga_bitstream_manager.bitstreams.store import BlobStore
from fpga_bitstream_manager.clock import Clock
from fpga_bitstream_manager.failures import Conflict, UnknownBitstream
from fpga_bitstream_manager.ledger import BitstreamNameRow, BitstreamRow, DeviceRow, Ledger
from fpga_bitstream_manager.ledger.loads import LoadRow
from fpga_common.contract.bitstreams import Bitstream


class BitstreamInUse(Conflict):
    """Something needs the bitstream: a load that has not ended, or a region whose desired AFU it
    holds. Let the load end or cancel it, or give the region another desired AFU.
    """

    code = "bitstream_in_use"


@dataclass(frozen=True, slots=True)
class BitstreamFilter:
    """Which bitstreams; None means any."""

    name: str | None = None
    interface_id: str | None = None
    afu_id: str | None = None


def find(session: Session, reference: str) -> Bitstream:
    """A bitstream by digest, name or ``name@version``. Raises UnknownBitstream."""
    return _documents(session, [find_row(session, reference)])[0]


def find_row(session: Session, reference: str) -> BitstreamRow:
    """The row that a reference means. Raises UnknownBitstream."""
    row = None
    if is_digest(reference):
        row = session.get(BitstreamRow, reference)
    elif (named := session.get(BitstreamNameRow, split_reference(reference))) is not None:
        row = session.get(BitstreamRow, named.digest)
    if row is None:
        raise UnknownBitstream(f"there is no bitstream {reference!r}", actual=reference)
    return row


def list_bitstreams(
    session: Session,
    wanted: BitstreamFilter,
    *,
    after: tuple[datetime, str] | None,
    limit: int,
) -> list[Bitstream]:
    """Bitstreams, newest first, from behind ``after`` (uploaded_at, digest)."""
    query = select(BitstreamRow).order_by(
        BitstreamRow.uploaded_at.desc(), BitstreamRow.digest.desc()
    )
    if wanted.name is not None:
        named = select(BitstreamNameRow.digest).where(BitstreamNameRow.name == wanted.name)
        query = query.where(BitstreamRow.digest.in_(named))
    if wanted.interface_id is not None:
        query = query.where(BitstreamRow.interface_id == wanted.interface_id)
    if wanted.afu_id is not None:
        query = query.where(BitstreamRow.afu_id == wanted.afu_id)
    if after is not None:
        at, digest = after
        earlier = BitstreamRow.uploaded_at < at
        same_time = and_(BitstreamRow.uploaded_at == at, BitstreamRow.digest < digest)
        query = query.where(or_(earlier, same_time))
    return _documents(session, session.scalars(query.limit(limit)).all())


def delete(ledger: Ledger, blobs: BlobStore, clock: Clock, digest: str) -> None:
    """Delete a bitstream, its names and its bytes. Raises UnknownBitstream, BitstreamInUse."""
    with ledger.transaction() as session:
        row = session.get(BitstreamRow, digest, with_for_update=True)
        if row is None:
            raise UnknownBitstream(f"there is no bitstream {digest!r}", actual=digest)
        _require_unused(session, row)
        record(session, clock, "bitstream.delete", digest, name=row.name, version=row.version)
        session.delete(row)
        session.flush()
        blobs.delete(digest)


def _require_unused(session: Session, row: BitstreamRow) -> None:
    load = session.scalar(
        select(LoadRow.id)
        .where(LoadRow.bitstream_digest == row.digest, LoadRow.finished_at.is_(None))
        .limit(1)
    )
    if load is not None:
        raise BitstreamInUse(f"load {load} needs {row.name}", actual=f"load {load}")
    device = session.scalar(
        select(DeviceRow).where(DeviceRow.desired_digest == row.digest).limit(1)
    )
    if device is not None:
        where = f"{device.node}/{device.id}"
        raise BitstreamInUse(f"{row.name} is the desired AFU of {where}", actual=where)


def _documents(session: Session, rows: Sequence[BitstreamRow]) -> list[Bitstream]:
    devices = _devices(session, rows)
    references = _references(session, rows)
    return [
        bitstream_document(
            row,
            devices=devices.get((row.interface_id, row.afu_id), 0),
            references=references.get(row.digest, []),
        )
        for row in rows
    ]


def _devices(
    session: Session, rows: Sequence[BitstreamRow]
) -> dict[tuple[str | None, str | None], int]:
    pairs = {(row.interface_id, row.afu_id) for row in rows}
    query = (
        select(DeviceRow.interface_id, DeviceRow.afu_id, func.count())
        .where(tuple_(DeviceRow.interface_id, DeviceRow.afu_id).in_(pairs))
        .group_by(DeviceRow.interface_id, DeviceRow.afu_id)
    )
    return {(interface, afu): count for interface, afu, count in session.execute(query)}


def _references(session: Session, rows: Sequence[BitstreamRow]) -> dict[str, list[str]]:
    query = (
        select(BitstreamNameRow)
        .where(BitstreamNameRow.digest.in_([row.digest for row in rows]))
        .order_by(BitstreamNameRow.name, BitstreamNameRow.version)
    )
    found: dict[str, list[str]] = {}
    for name in session.scalars(query):
        found.setdefault(name.digest, []).append(str(Label(name.name, name.version or None)))
    return found
