"""What callers ask: a load, its end, another try. Each function is one write transaction's part.

Called by the service; must not know queue or network.
"""

from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from fpga_bitstream_manager.ledger.loads import LoadRow
from fpga_bitstream_manager.loads.history import Note, append, change, new_id
from fpga_bitstream_manager.loads.lookup import find_bitstream, find_target, load_row
from fpga_bitstream_manager.loads.planning import check_request
from fpga_bitstream_manager.loads.refusals import LoadEnded, LoadOpen
from fpga_bitstream_manager.loads.values import IN_FLIGHT, RANK, LoadRequest
from fpga_common.contract.loads import LoadCreate, LoadTarget
from fpga_common.domain.load import IfBusy, LoadState, Priority


def request_load(
    session: Session, asked: LoadCreate, actor: str, now: datetime, *, retry_of: str | None = None
) -> LoadRow:
    """Write a queued load.

    Raises:
        UnknownBitstream, UnknownNode, UnknownDevice: nothing under that name.
        RegionStatic, InterfaceMismatch, RegionHeld: see ``planning.check_request``.
    """
    bitstream = find_bitstream(session, asked.bitstream)
    target = find_target(session, asked.target.node, asked.target.device)
    check_request(bitstream, target, if_busy=asked.if_busy, force=asked.force)
    request = LoadRequest(
        bitstream=bitstream,
        target=target,
        requested_by=actor,
        if_busy=asked.if_busy,
        priority=asked.priority,
        deadline_seconds=asked.deadline_seconds,
        persist=asked.persist,
        force=asked.force,
        labels=asked.labels,
        retry_of=retry_of,
    )
    row = _new_row(request, now)
    session.add(row)
    session.flush()
    append(session, row, Note(now, row.message, actor))
    return row


def _new_row(request: LoadRequest, now: datetime) -> LoadRow:
    bitstream, target = request.bitstream, request.target
    return LoadRow(
        id=new_id(now),
        state=LoadState.QUEUED.value,
        node=target.node,
        card=target.card,
        device=target.device,
        bitstream_digest=bitstream.digest,
        bitstream_name=bitstream.name,
        bitstream_version=bitstream.version,
        bitstream_format=bitstream.format,
        bitstream_size_bytes=bitstream.size_bytes,
        interface_id=bitstream.interface_id,
        wanted_afu_id=bitstream.afu_id,
        requested_by=request.requested_by,
        priority=request.priority.value,
        rank=RANK[request.priority],
        if_busy=request.if_busy.value,
        persist=request.persist,
        force=request.force,
        labels=dict(request.labels),
        retry_of=request.retry_of,
        created_at=now,
        deadline_at=now + timedelta(seconds=request.deadline_seconds),
        dispatched_at=now,
        previous_afu_id=target.afu_id,
        attempt=0,
        waits=0,
        sequence=1,
        percent=0.0,
        message=_first_message(request),
    )


def _first_message(request: LoadRequest) -> str:
    holder = request.target.holder
    if request.force and holder is not None:
        return f"queued with force, although {request.target.device} is held by {holder.words}"
    return "queued"


def request_cancel(session: Session, load_id: str, actor: str, now: datetime) -> LoadRow:
    """End a load that has not begun, or begin to stop one that runs; twice is like once.

    Raises:
        UnknownLoad: no such load.
        LoadEnded: it has ended.
    """
    row = load_row(session, load_id, lock=True)
    state = LoadState(row.state)
    if state.ended:
        raise LoadEnded(f"load {load_id} is {state}", expected="an open load", actual=state.value)
    if state is LoadState.CANCELLING:
        return row
    if state in IN_FLIGHT:
        change(session, row, LoadState.CANCELLING, Note(now, f"{actor} asked to cancel", actor))
    else:
        change(session, row, LoadState.CANCELLED, Note(now, f"cancelled by {actor}", actor))
    return row


def request_retry(session: Session, load_id: str, actor: str, now: datetime) -> LoadRow:
    """Write a new load that asks for the same as an ended one.

    Raises:
        UnknownLoad: no such load.
        LoadOpen: it has not ended.
        UnknownBitstream, UnknownNode, UnknownDevice, RegionStatic, InterfaceMismatch, RegionHeld:
            as for a new load.
    """
    row = load_row(session, load_id)
    if not LoadState(row.state).ended:
        raise LoadOpen(f"load {load_id} is {row.state}", expected="an ended load", actual=row.state)
    return request_load(session, asked_for(row), actor, now, retry_of=row.id)


def asked_for(row: LoadRow) -> LoadCreate:
    """The request that made a load; the bitstream by its digest, so that it is the same one."""
    return LoadCreate(
        bitstream=row.bitstream_digest,
        target=LoadTarget(node=row.node, device=row.device),
        if_busy=IfBusy(row.if_busy),
        priority=Priority(row.priority),
        deadline_seconds=(row.deadline_at - row.created_at).total_seconds(),
        persist=row.persist,
        force=row.force,
        labels=dict(row.labels),
    )
