"""Lists loads, newest first. Called by the API."""

from dataclasses import dataclass

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from fpga_bitstream_manager.ledger.loads import LoadRow
from fpga_bitstream_manager.loads.documents import load_document
from fpga_common.contract.loads import Load
from fpga_common.domain.load import LoadState


@dataclass(frozen=True, slots=True)
class LoadFilter:
    """Which loads; None means any. ``bitstream`` is a digest or a name."""

    state: LoadState | None = None
    node: str | None = None
    device: str | None = None
    bitstream: str | None = None


def list_loads(
    session: Session, wanted: LoadFilter, *, before: str | None, limit: int
) -> list[Load]:
    """Loads older than the one with id ``before``."""
    query = _filtered(select(LoadRow).order_by(LoadRow.id.desc()).limit(limit), wanted)
    if before is not None:
        query = query.where(LoadRow.id < before)
    return [load_document(row) for row in session.scalars(query)]


def _filtered(query: Select[LoadRow], wanted: LoadFilter) -> Select[LoadRow]:
    if wanted.state is not None:
        query = query.where(LoadRow.state == wanted.state)
    if wanted.node is not None:
        query = query.where(LoadRow.node == wanted.node)
    if wanted.device is not None:
        query = query.where(LoadRow.device == wanted.device)
    if wanted.bitstream is not None:
        by = LoadRow.bitstream_digest if ":" in wanted.bitstream else LoadRow.bitstream_name
        query = query.where(by == wanted.bitstream)
    return query
