"""The way of a load as a row of steps, from its history."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from fpga_common.contract.loads import LoadDetail, LoadEvent
from fpga_common.domain.load import LoadState
from fpga_common.domain.operation import Phase
from fpga_web.presenters.moments import Moment, duration, moment
from fpga_web.presenters.status import LOAD

StepState = Literal["done", "current", "stopped", "pending"]

WORK: Final = (
    Phase.FETCHING,
    Phase.CHECKING,
    Phase.DRAINING,
    Phase.PROGRAMMING,
    Phase.VERIFYING,
)
_MEANINGS: Final[dict[Phase, str]] = {
    Phase.FETCHING: "The node gets the bitstream",
    Phase.CHECKING: "Digest, format and interface are checked on the node",
    Phase.DRAINING: "The device is taken from the kubelet and nobody holds it",
    Phase.PROGRAMMING: "The bitstream is written",
    Phase.VERIFYING: "The AFU's identity is read back",
}
_ICONS: Final[dict[StepState, str]] = {
    "done": "check",
    "current": "play",
    "stopped": "cross",
    "pending": "dashed",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``seconds`` is how long it took, empty while unknown."""

    word: str
    state: StepState
    icon: str
    at: Moment | None = None
    seconds: str = ""
    meaning: str = ""


def timeline(load: LoadDetail, now: datetime) -> tuple[Step, ...]:
    """Queued, the agent's phases in the current attempt, and the end."""
    entered = _entered(load)
    reached = _reached(load, entered)
    work = [_work_step(load, index, reached, entered, now) for index in range(len(WORK))]
    return (_queued(load, reached, now), *work, _end(load, now))


def _entered(load: LoadDetail) -> dict[Phase, datetime]:
    current: Sequence[LoadEvent] = [e for e in load.history if e.attempt == load.attempt]
    found: dict[Phase, datetime] = {}
    for event in current:
        if event.phase is not None:
            found.setdefault(event.phase, event.at)
    return found


def _reached(load: LoadDetail, entered: dict[Phase, datetime]) -> int:
    """The index of the furthest phase, -1 before the first one."""
    if load.state is LoadState.SUCCEEDED:
        return len(WORK)
    phases = set(entered) | ({load.progress.phase} if load.progress.phase else set())
    furthest = max((WORK.index(phase) for phase in phases if phase in WORK), default=-1)
    open_again = load.state in (LoadState.QUEUED, LoadState.WAITING)
    return -1 if open_again else furthest


def _queued(load: LoadDetail, reached: int, now: datetime) -> Step:
    waiting = load.state is LoadState.WAITING
    state: StepState = "done" if reached >= 0 else _unfinished(load)
    ended = load.started_at or (load.finished_at if load.state.ended else None)
    seconds = (ended - load.created_at).total_seconds() if ended else None
    return Step(
        "Waiting" if waiting else "Queued",
        state,
        _ICONS[state],
        moment(load.created_at, now),
        duration(seconds),
        LOAD[LoadState.WAITING if waiting else LoadState.QUEUED].meaning,
    )


def _work_step(
    load: LoadDetail, index: int, reached: int, entered: dict[Phase, datetime], now: datetime
) -> Step:
    phase = WORK[index]
    state = _state(load, index, reached)
    at = entered.get(phase)
    return Step(
        phase.value.capitalize(),
        state,
        _ICONS[state],
        moment(at, now),
        duration(_took(load, phase, entered, now)) if state != "pending" else "",
        _MEANINGS[phase],
    )


def _state(load: LoadDetail, index: int, reached: int) -> StepState:
    if index < reached:
        return "done"
    return _unfinished(load) if index == reached else "pending"


def _unfinished(load: LoadDetail) -> StepState:
    return "stopped" if load.state.ended else "current"


def _took(
    load: LoadDetail, phase: Phase, entered: dict[Phase, datetime], now: datetime
) -> float | None:
    if phase not in entered:
        return None
    later = [at for other, at in entered.items() if other in WORK and at > entered[phase]]
    until = min(later, default=load.finished_at or now)
    return max(0.0, (until - entered[phase]).total_seconds())


def _end(load: LoadDetail, now: datetime) -> Step:
    if not load.state.ended:
        return Step("Done", "pending", _ICONS["pending"])
    state: StepState = "done" if load.state is LoadState.SUCCEEDED else "stopped"
    status = LOAD[load.state]
    return Step(status.word, state, status.icon, moment(load.finished_at, now), "", status.meaning)
