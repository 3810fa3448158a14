"""Loads as the wire models of the REST API. Called by the service."""

from fpga_bitstream_manager.ledger.loads import LoadAttemptRow, LoadEventRow, LoadRow
from fpga_common.contract.loads import (
    Load,
    LoadAttempt,
    LoadBitstream,
    LoadDetail,
    LoadError,
    LoadEvent,
    LoadProgress,
    LoadTarget,
)
from fpga_common.domain.load import AttemptOutcome, IfBusy, LoadState, Priority
from fpga_common.domain.operation import RETRY, FailureCode, Phase, Retry


def load_document(row: LoadRow) -> Load:
    """A load without its history."""
    seconds = (row.finished_at - row.created_at).total_seconds() if row.finished_at else None
    return Load(
        id=row.id,
        state=LoadState(row.state),
        bitstream=LoadBitstream(
            digest=row.bitstream_digest,
            name=row.bitstream_name,
            version=row.bitstream_version,
            interface_id=row.interface_id,
            afu_id=row.wanted_afu_id,
        ),
        target=LoadTarget(node=row.node, device=row.device),
        requested_by=row.requested_by,
        priority=Priority(row.priority),
        if_busy=IfBusy(row.if_busy),
        persist=row.persist,
        force=row.force,
        labels=row.labels,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        deadline_at=row.deadline_at,
        seconds=seconds,
        attempt=row.attempt,
        progress=LoadProgress(
            phase=Phase(row.phase) if row.phase else None, percent=row.percent, message=row.message
        ),
        previous_afu_id=row.previous_afu_id,
        afu_id=row.afu_id,
        error=error_document(row),
        retry_of=row.retry_of,
    )


def detail_document(
    row: LoadRow, attempts: list[LoadAttemptRow], events: list[LoadEventRow]
) -> LoadDetail:
    """A load with everything that happened to it."""
    return LoadDetail(
        **dict(load_document(row)),
        attempts=[attempt_document(attempt) for attempt in attempts],
        history=[event_document(event) for event in events],
    )


def attempt_document(row: LoadAttemptRow) -> LoadAttempt:
    """One try."""
    return LoadAttempt(
        number=row.number,
        started_at=row.started_at,
        ended_at=row.ended_at,
        outcome=AttemptOutcome(row.outcome) if row.outcome else None,
        error=error_document(row),
    )


def event_document(row: LoadEventRow) -> LoadEvent:
    """One line of history."""
    return LoadEvent(
        sequence=row.sequence,
        at=row.at,
        state=LoadState(row.state),
        attempt=row.attempt,
        phase=Phase(row.phase) if row.phase else None,
        percent=row.percent,
        message=row.message,
        actor=row.actor,
    )


def error_document(row: LoadRow | LoadAttemptRow) -> LoadError | None:
    """Why it failed, or what it waits for; None where nothing is wrong."""
    if row.error_code is None:
        return None
    code = FailureCode(row.error_code)
    return LoadError(
        code=code,
        message=row.error_message or "",
        retryable=RETRY[code] is not Retry.NEVER,
        expected=row.error_expected,
        actual=row.error_actual,
    )
