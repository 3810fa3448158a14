"""What may be asked and what follows what: functions from values to values.

Called by the service, by workers and by the reconciler; must not know ledger, queue or network.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never

from fpga_bitstream_manager.loads.refusals import InterfaceMismatch, RegionHeld, RegionStatic
from fpga_bitstream_manager.loads.values import BitstreamFacts, TargetFacts, TargetHolder
from fpga_common.domain.card import RegionState
from fpga_common.domain.load import TRANSITIONS, AttemptOutcome, IfBusy, LoadState
from fpga_common.domain.operation import RETRY, Failure, FailureCode, Phase, Retry

FIRST_BACKOFF_SECONDS: Final = 1.0
LONGEST_BACKOFF_SECONDS: Final = 60.0

HELD: Final = frozenset({FailureCode.REGION_HELD, FailureCode.OPEN_ELSEWHERE})


def check_request(
    bitstream: BitstreamFacts, target: TargetFacts, *, if_busy: IfBusy, force: bool
) -> None:
    """Refuse at once what can never work.

    Raises:
        RegionStatic: the region takes no bitstream.
        InterfaceMismatch: the bitstream was built for another region.
        RegionHeld: somebody holds the region, and the caller will not wait.
    """
    if target.state == RegionState.STATIC:
        raise RegionStatic(
            f"{target.device} on {target.node} cannot be programmed: {target.reason}"
        )
    if bitstream.interface_id != target.interface_id:
        raise InterfaceMismatch(
            f"{bitstream.name} does not fit {target.device} on {target.node}",
            expected=target.interface_id or "unknown: the region does not tell its interface id",
            actual=bitstream.interface_id or "none: the bitstream names no interface id",
        )
    if if_busy is IfBusy.FAIL:
        _refuse_held(bitstream, target, force=force)


def _refuse_held(bitstream: BitstreamFacts, target: TargetFacts, *, force: bool) -> None:
    found = obstacle(bitstream, target, force=force)
    if found is not None and found.code in HELD:
        raise RegionHeld(found.message, expected=found.expected, actual=found.actual)


def holds_wanted_afu(bitstream: BitstreamFacts, target: TargetFacts, *, force: bool) -> bool:
    """Whether the ledger shows the wanted AFU already; the node has to confirm it."""
    return (
        not force
        and bitstream.afu_id is not None
        and target.afu_id == bitstream.afu_id
        and target.state == RegionState.READY
    )


def obstacle(
    bitstream: BitstreamFacts, target: TargetFacts | None, *, force: bool
) -> Failure | None:
    """What the ledger knows to stand in the way now, None where the node may be asked."""
    if target is None:
        return Failure(FailureCode.CARD_MISSING, "the node does not report this device any more")
    if target.stale or not target.agent_address:
        return Failure(FailureCode.NODE_UNREACHABLE, f"node {target.node} does not report")
    if holds_wanted_afu(bitstream, target, force=force):
        return None
    if target.state == RegionState.RESERVED and "cordon" in target.reason:
        return Failure(FailureCode.CORDONED, f"{target.device} is cordoned: {target.reason}")
    if target.holder is not None and not force:
        return _held(target.device, target.holder)
    return None


def _held(device: str, holder: TargetHolder) -> Failure:
    code = FailureCode.OPEN_ELSEWHERE if holder.source == "open" else FailureCode.REGION_HELD
    return Failure(
        code, f"{device} is held by {holder.words}", "a region that nobody holds", holder.words
    )


def may_wake(bitstream: BitstreamFacts, target: TargetFacts | None, *, force: bool) -> bool:
    """Whether a waiting load should try again: nothing known stands in the way."""
    if obstacle(bitstream, target, force=force) is not None or target is None:
        return False
    return target.state not in (RegionState.RESERVED, RegionState.MISSING)


@dataclass(frozen=True, slots=True)
class NextStep:
    """What a load becomes after an attempt. ``not_before`` holds it back from being claimed."""

    state: LoadState
    outcome: AttemptOutcome
    not_before: datetime | None = None


def before_claim(
    found: Failure, *, if_busy: IfBusy, waits: int, now: datetime, deadline_at: datetime
) -> NextStep:
    """What a queued load becomes when something stands in its way."""
    if now >= deadline_at:
        return NextStep(LoadState.EXPIRED, AttemptOutcome.ERROR)
    if found.code in HELD and if_busy is IfBusy.FAIL:
        return NextStep(LoadState.FAILED, AttemptOutcome.ERROR)
    later = now + timedelta(seconds=backoff_seconds(waits + 1))
    return NextStep(LoadState.WAITING, AttemptOutcome.ERROR, later)


def after_loss(current: LoadState, *, attempt: int, now: datetime) -> NextStep:
    """What follows when the node never heard of the attempt: another one, the second at once.

    Later ones wait: a node that loses every attempt must not be asked without pause.
    """
    if current is LoadState.CANCELLING:
        return NextStep(LoadState.CANCELLED, AttemptOutcome.LOST)
    pause = backoff_seconds(attempt - 1) if attempt > 1 else 0.0
    return NextStep(LoadState.QUEUED, AttemptOutcome.LOST, now + timedelta(seconds=pause))


def state_in_phase(current: LoadState, phase: Phase) -> LoadState:
    """The state of a load whose operation is in ``phase``; it never goes back."""
    wanted = {Phase.PROGRAMMING: LoadState.PROGRAMMING, Phase.VERIFYING: LoadState.VERIFYING}
    following = wanted.get(phase, current)
    return following if following in TRANSITIONS[current] else current


def after_success() -> NextStep:
    """An attempt that was verified ends its load, also one that should have been cancelled."""
    return NextStep(LoadState.SUCCEEDED, AttemptOutcome.OK)


def after_failure(
    failure: Failure,
    *,
    current: LoadState,
    attempt: int,
    seen: Collection[FailureCode],
    if_busy: IfBusy,
    now: datetime,
    deadline_at: datetime,
) -> NextStep:
    """What follows a failed attempt, by ``fpga_common.domain.operation.RETRY``.

    ``seen`` are the codes of the load's earlier attempts, ``attempt`` counts from 1.
    """
    outcome = _outcome(failure.code)
    if current is LoadState.CANCELLING:
        return NextStep(_end_of_cancelling(failure.code), outcome)
    if failure.code is FailureCode.CANCELLED:
        return NextStep(LoadState.FAILED, outcome)
    if failure.code is FailureCode.DEADLINE_EXCEEDED or now >= deadline_at:
        return NextStep(LoadState.EXPIRED, outcome)
    return _by_retry(failure.code, current, attempt, seen, if_busy, now, outcome)


def _by_retry(
    code: FailureCode,
    current: LoadState,
    attempt: int,
    seen: Collection[FailureCode],
    if_busy: IfBusy,
    now: datetime,
    outcome: AttemptOutcome,
) -> NextStep:
    retry = RETRY[code]
    later = now + timedelta(seconds=backoff_seconds(attempt))
    match retry:
        case Retry.NEVER:
            return NextStep(LoadState.FAILED, outcome)
        case Retry.ONCE if code in seen:
            return NextStep(LoadState.FAILED, outcome)
        case Retry.ONCE | Retry.BACKOFF:
            return NextStep(LoadState.QUEUED, outcome, later)
        case Retry.WHEN_FREE if code in HELD and if_busy is IfBusy.FAIL:
            return NextStep(LoadState.FAILED, outcome)
        case Retry.WHEN_FREE if current is not LoadState.CLAIMED:
            return NextStep(LoadState.QUEUED, outcome, later)
        case Retry.WHEN_FREE:
            return NextStep(LoadState.WAITING, outcome, later)
        case _:
            assert_never(retry)


def _end_of_cancelling(code: FailureCode) -> LoadState:
    stopped = code is FailureCode.CANCELLED or RETRY[code] is not Retry.NEVER
    return LoadState.CANCELLED if stopped else LoadState.FAILED


def _outcome(code: FailureCode) -> AttemptOutcome:
    interrupted = code in (FailureCode.INTERRUPTED, FailureCode.SHUTTING_DOWN)
    return AttemptOutcome.INTERRUPTED if interrupted else AttemptOutcome.ERROR


def backoff_seconds(attempt: int) -> float:
    """The pause after attempt number ``attempt``: 1 s, doubled each time, 60 s at most."""
    return float(min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2 ** (min(attempt, 10) - 1)))
