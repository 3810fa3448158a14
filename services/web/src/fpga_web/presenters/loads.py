"""Loads: rows of the list, and the page of one load."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

from fpga_common.contract.loads import Load, LoadAttempt, LoadDetail, LoadEvent
from fpga_common.domain.load import LoadState
from fpga_web.presenters.figures import short
from fpga_web.presenters.moments import Moment, duration, moment
from fpga_web.presenters.status import LOAD, Status

REPEATABLE: Final = frozenset({LoadState.FAILED, LoadState.CANCELLED, LoadState.EXPIRED})


@dataclass(frozen=True, slots=True)
class LoadRow:
    """One line of the list."""

    id: str
    status: Status
    bitstream: str
    digest: str
    node: str
    device: str
    percent: int | None
    phase: str
    requested_by: str
    created: Moment | None
    seconds: str
    attempt: int
    error: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try."""

    number: int
    started: Moment | None
    seconds: str
    outcome: str
    error: str


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One line of what happened."""

    sequence: int
    at: Moment | None
    status: Status
    phase: str
    attempt: int
    message: str
    actor: str


def rows(loads: Iterable[Load], now: datetime) -> tuple[LoadRow, ...]:
    """The lines of the list, in the order given."""
    return tuple(row(load, now) for load in loads)


def row(load: Load, now: datetime) -> LoadRow:
    """One line; ``percent`` is None unless a progress bar says something."""
    return LoadRow(
        id=load.id,
        status=LOAD[load.state],
        bitstream=bitstream_name(load),
        digest=load.bitstream.digest,
        node=load.target.node,
        device=load.target.device,
        percent=None if load.state.ended else round(load.progress.percent),
        phase=load.progress.phase.value if load.progress.phase and not load.state.ended else "",
        requested_by=load.requested_by,
        created=moment(load.created_at, now),
        seconds=duration(elapsed(load, now)),
        attempt=load.attempt,
        error=load.error.message if load.error else "",
    )


def bitstream_name(load: Load) -> str:
    """``name@version``, or the name alone."""
    found = load.bitstream
    return f"{found.name}@{found.version}" if found.version else found.name


def elapsed(load: Load, now: datetime) -> float:
    """Seconds from the request to the end, or to now."""
    if load.seconds is not None:
        return load.seconds
    return max(0.0, ((load.finished_at or now) - load.created_at).total_seconds())


def may_cancel(load: Load) -> bool:
    """Whether asking it to stop makes sense."""
    return not load.state.ended and load.state is not LoadState.CANCELLING


def may_retry(load: Load) -> bool:
    """Whether making it again makes sense."""
    return load.state in REPEATABLE


def attempts(found: Sequence[LoadAttempt], now: datetime) -> tuple[Attempt, ...]:
    """The tries, newest first."""
    return tuple(_attempt(item, now) for item in reversed(found))


def history(load: LoadDetail, now: datetime) -> tuple[HistoryLine, ...]:
    """What happened, newest first; what only repeats the line before it is left out."""
    told = [
        event
        for before, event in pairwise((None, *load.history))
        if event is not None and (before is None or _said(event) != _said(before))
    ]
    return tuple(_line(event, now) for event in reversed(told))


def short_id(identifier: str) -> str:
    """A load's id as a list shows it."""
    return short(identifier, 8)


def _attempt(found: LoadAttempt, now: datetime) -> Attempt:
    seconds = ((found.ended_at or now) - found.started_at).total_seconds()
    return Attempt(
        number=found.number,
        started=moment(found.started_at, now),
        seconds=duration(max(0.0, seconds)),
        outcome=found.outcome.value if found.outcome else "running",
        error=found.error.message if found.error else "",
    )


def _said(event: LoadEvent) -> tuple[object, ...]:
    return (event.state, event.attempt, event.phase, event.message, event.actor)


def _line(event: LoadEvent, now: datetime) -> HistoryLine:
    return HistoryLine(
        sequence=event.sequence,
        at=moment(event.at, now),
        status=LOAD[event.state],
        phase=event.phase.value if event.phase else "",
        attempt=event.attempt,
        message=event.message,
        actor=event.actor,
    )
