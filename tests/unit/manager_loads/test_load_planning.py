"""What may be asked, and what follows a failure, as data."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fpga_bitstream_manager.loads.planning import (
    after_failure,
    after_loss,
    backoff_seconds,
    before_claim,
    check_request,
    may_wake,
    obstacle,
    state_in_phase,
)
from fpga_bitstream_manager.loads.refusals import InterfaceMismatch, RegionHeld, RegionStatic
from fpga_bitstream_manager.loads.values import BitstreamFacts, TargetFacts, TargetHolder
from fpga_common.domain.load import TRANSITIONS, AttemptOutcome, IfBusy, LoadState
from fpga_common.domain.operation import RETRY, Failure, FailureCode, Phase, Retry

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BITSTREAM = BitstreamFacts("sha256:" + "a" * 64, "new", None, "gbs", 4096, "1" * 32, "2" * 32)
TARGET = TargetFacts(
    node="sim-a",
    device="0000:3b:00.0-r0",
    card="0000:3b:00.0",
    interface_id="1" * 32,
    afu_id="3" * 32,
    state="ready",
    reason="",
    stale=False,
    agent_address="127.0.0.1:1",
    agent_certificate="pem",
)
POD = TargetHolder("podresources", "default", "trainer")
OUTSIDE = TargetHolder("open")
RUNNING = (LoadState.CLAIMED, LoadState.PROGRAMMING, LoadState.VERIFYING, LoadState.CANCELLING)


def following(
    code: FailureCode,
    current: LoadState = LoadState.CLAIMED,
    *,
    attempt: int = 1,
    seen: tuple[FailureCode, ...] = (),
    if_busy: IfBusy = IfBusy.WAIT,
    seconds_left: float = 100.0,
) -> LoadState:
    return after_failure(
        Failure(code, "words"),
        current=current,
        attempt=attempt,
        seen=seen,
        if_busy=if_busy,
        now=NOW,
        deadline_at=NOW + timedelta(seconds=seconds_left),
    ).state


def test_a_bitstream_for_another_region_is_refused_with_both_ids() -> None:
    with pytest.raises(InterfaceMismatch) as refused:
        check_request(
            replace(BITSTREAM, interface_id="9" * 32), TARGET, if_busy=IfBusy.WAIT, force=True
        )
    assert (refused.value.expected, refused.value.actual) == ("1" * 32, "9" * 32)


def test_a_static_region_is_refused() -> None:
    with pytest.raises(RegionStatic):
        check_request(BITSTREAM, replace(TARGET, state="static"), if_busy=IfBusy.WAIT, force=True)


def test_a_held_region_is_refused_only_to_those_who_will_not_wait() -> None:
    held = replace(TARGET, holder=POD)
    with pytest.raises(RegionHeld, match="pod default/trainer"):
        check_request(BITSTREAM, held, if_busy=IfBusy.FAIL, force=False)
    check_request(BITSTREAM, held, if_busy=IfBusy.WAIT, force=False)
    check_request(BITSTREAM, held, if_busy=IfBusy.FAIL, force=True)


def test_a_held_region_that_shows_the_wanted_afu_is_no_obstacle() -> None:
    showing = replace(TARGET, holder=POD, afu_id=BITSTREAM.afu_id)
    check_request(BITSTREAM, showing, if_busy=IfBusy.FAIL, force=False)
    assert obstacle(BITSTREAM, showing, force=False) is None


@pytest.mark.parametrize(
    ("target", "code"),
    [
        (None, FailureCode.CARD_MISSING),
        (replace(TARGET, stale=True), FailureCode.NODE_UNREACHABLE),
        (replace(TARGET, agent_address=None), FailureCode.NODE_UNREACHABLE),
        (replace(TARGET, state="reserved", reason="cordoned"), FailureCode.CORDONED),
        (replace(TARGET, holder=POD), FailureCode.REGION_HELD),
        (replace(TARGET, holder=OUTSIDE), FailureCode.OPEN_ELSEWHERE),
    ],
)
def test_what_stands_in_the_way_is_named_and_keeps_a_load_asleep(
    target: TargetFacts | None, code: FailureCode
) -> None:
    found = obstacle(BITSTREAM, target, force=False)
    assert found is not None
    assert found.code is code
    assert not may_wake(BITSTREAM, target, force=False)


@pytest.mark.parametrize("state", ["ready", "quarantined", "unusable"])
def test_a_load_wakes_in_every_state_that_the_node_may_be_asked_in(state: str) -> None:
    assert may_wake(BITSTREAM, replace(TARGET, state=state), force=False)


@pytest.mark.parametrize("state", ["reserved", "missing"])
def test_a_load_sleeps_while_its_region_is_reserved_or_missing(state: str) -> None:
    assert not may_wake(BITSTREAM, replace(TARGET, state=state), force=False)


def test_an_obstacle_before_the_claim_makes_wait_fail_or_expire() -> None:
    found = Failure(FailureCode.REGION_HELD, "held")
    later = NOW + timedelta(seconds=10)

    def state(if_busy: IfBusy, deadline_at: datetime) -> LoadState:
        return before_claim(found, if_busy=if_busy, waits=0, now=NOW, deadline_at=deadline_at).state

    assert state(IfBusy.WAIT, later) is LoadState.WAITING
    assert state(IfBusy.FAIL, later) is LoadState.FAILED
    assert state(IfBusy.WAIT, NOW) is LoadState.EXPIRED


@pytest.mark.parametrize("code", list(FailureCode))
def test_every_failure_is_followed_as_the_table_of_codes_says(code: FailureCode) -> None:
    expected = {
        Retry.NEVER: LoadState.FAILED,
        Retry.ONCE: LoadState.QUEUED,
        Retry.BACKOFF: LoadState.QUEUED,
        Retry.WHEN_FREE: LoadState.WAITING,
    }[RETRY[code]]
    if code is FailureCode.DEADLINE_EXCEEDED:
        expected = LoadState.EXPIRED
    assert following(code) is expected


@pytest.mark.parametrize("current", RUNNING)
@pytest.mark.parametrize("code", list(FailureCode))
def test_no_failure_leads_where_the_table_of_states_does_not(
    code: FailureCode, current: LoadState
) -> None:
    for seconds_left in (100.0, -1.0):
        assert following(code, current, seconds_left=seconds_left) in TRANSITIONS[current]


def test_what_may_be_tried_once_more_fails_the_second_time() -> None:
    code = FailureCode.PROGRAMMING_TIMEOUT
    assert following(code, LoadState.PROGRAMMING) is LoadState.QUEUED
    assert following(code, LoadState.PROGRAMMING, attempt=2, seen=(code,)) is LoadState.FAILED


def test_a_held_region_fails_a_load_that_will_not_wait() -> None:
    assert following(FailureCode.REGION_HELD, if_busy=IfBusy.FAIL) is LoadState.FAILED
    assert following(FailureCode.CARD_BUSY, if_busy=IfBusy.FAIL) is LoadState.WAITING


@pytest.mark.parametrize(
    ("code", "end"),
    [
        (FailureCode.CANCELLED, LoadState.CANCELLED),
        (FailureCode.FETCH_FAILED, LoadState.CANCELLED),
        (FailureCode.VERIFICATION_MISMATCH, LoadState.FAILED),
    ],
)
def test_a_cancelling_load_is_not_tried_again(code: FailureCode, end: LoadState) -> None:
    assert following(code, LoadState.CANCELLING) is end


def test_a_lost_attempt_is_repeated_at_once_unless_it_was_to_stop() -> None:
    step = after_loss(LoadState.PROGRAMMING, attempt=1, now=NOW)
    assert (step.state, step.outcome) == (LoadState.QUEUED, AttemptOutcome.LOST)
    assert step.not_before == NOW
    assert after_loss(LoadState.CANCELLING, attempt=1, now=NOW).state is LoadState.CANCELLED


def test_a_node_that_loses_every_attempt_is_asked_less_and_less_often() -> None:
    pauses = [after_loss(LoadState.CLAIMED, attempt=n, now=NOW).not_before for n in (2, 3, 100)]
    assert pauses == [NOW + timedelta(seconds=seconds) for seconds in (1, 2, 60)]


def test_pauses_double_up_to_a_minute() -> None:
    assert [backoff_seconds(n) for n in (1, 2, 3, 7, 100)] == [1.0, 2.0, 4.0, 60.0, 60.0]


def test_a_phase_never_takes_a_load_back() -> None:
    assert state_in_phase(LoadState.CLAIMED, Phase.FETCHING) is LoadState.CLAIMED
    assert state_in_phase(LoadState.CLAIMED, Phase.PROGRAMMING) is LoadState.PROGRAMMING
    assert state_in_phase(LoadState.VERIFYING, Phase.PROGRAMMING) is LoadState.VERIFYING
    assert state_in_phase(LoadState.CANCELLING, Phase.PROGRAMMING) is LoadState.CANCELLING
