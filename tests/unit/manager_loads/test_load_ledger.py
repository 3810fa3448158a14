"""Claims, fences and indexes in a real ledger, with several workers at once."""

import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from fpga_bitstream_manager.failures import UnknownBitstream, UnknownDevice, UnknownNode
from fpga_bitstream_manager.ledger import DeviceRow, Ledger, NodeRow, Row
from fpga_bitstream_manager.ledger.loads import LoadRow
from fpga_bitstream_manager.loads.attempts import (
    Claim,
    Claimed,
    claim_next,
    record_progress,
    settle,
    settle_lost,
)
from fpga_bitstream_manager.loads.history import Superseded
from fpga_bitstream_manager.loads.listing import LoadFilter, list_loads
from fpga_bitstream_manager.loads.refusals import InterfaceMismatch, LoadEnded, LoadOpen
from fpga_bitstream_manager.loads.service import LoadService
from fpga_bitstream_manager.loads.signals import Silent
from fpga_bitstream_manager.loads.upkeep import (
    expire_overdue,
    mark_dispatched,
    orphans,
    undelivered,
    wake_waiting,
)
from fpga_bitstream_manager.loads.values import Attempt, Failed, Progress, Succeeded
from fpga_bitstream_manager.reconciler.questions import ask_all
from fpga_bitstream_manager.tasks.leases import Leases
from fpga_common.contract.loads import Load, LoadCreate, LoadTarget
from fpga_common.domain.load import AttemptOutcome, LoadState
from fpga_common.domain.operation import Failure, FailureCode, Phase
from support.loads_bench import CARD, DEVICE, NEW_AFU, NODE, OLD_AFU, digest, hold


def now() -> datetime:
    return datetime.now(UTC)


def service(ledger: Ledger) -> LoadService:
    return LoadService(ledger, Silent(), Silent())


def ask(ledger: Ledger, bitstream: str = "new", **fields: object) -> Load:
    asked = {"bitstream": bitstream, "target": {"node": NODE, "device": DEVICE}, **fields}
    return service(ledger).create(LoadCreate.model_validate(asked), "tester")


def claim(ledger: Ledger, worker: str = "worker") -> Claimed | None:
    with ledger.transaction() as session:
        at = now()
        who = Claim(worker, at, at + timedelta(seconds=10))
        return claim_next(session, NODE, CARD, who).claimed


def must_claim(ledger: Ledger) -> Claimed:
    claimed = claim(ledger)
    assert claimed is not None
    return claimed


def state(ledger: Ledger, load_id: str) -> LoadState:
    return service(ledger).get(load_id).state


def test_the_tables_are_those_of_the_migrations(ledger: Ledger) -> None:
    with ledger.reading() as session:
        context = MigrationContext.configure(session.connection())
        assert compare_metadata(context, Row.metadata) == []


def test_a_request_is_written_with_everything_resolved(ledger: Ledger) -> None:
    load = ask(ledger, labels={"ticket": "7"})
    assert load.state is LoadState.QUEUED
    assert load.bitstream.digest == digest("a")
    assert load.bitstream.afu_id == NEW_AFU
    assert load.previous_afu_id == OLD_AFU
    detail = service(ledger).detail(load.id)
    assert [(event.sequence, event.state, event.actor) for event in detail.history] == [
        (1, LoadState.QUEUED, "tester")
    ]


@pytest.mark.parametrize(
    ("fields", "failure"),
    [
        ({"bitstream": "nothing"}, UnknownBitstream),
        ({"bitstream": digest("f")}, UnknownBitstream),
        ({"target": {"node": "ghost", "device": DEVICE}}, UnknownNode),
        ({"target": {"node": NODE, "device": "0000:99:00.0-r0"}}, UnknownDevice),
        ({"bitstream": "misfit"}, InterfaceMismatch),
    ],
)
def test_a_request_for_what_is_not_there_writes_nothing(
    ledger: Ledger, fields: dict[str, object], failure: type[Exception]
) -> None:
    asked = {"bitstream": "new", "target": {"node": NODE, "device": DEVICE}, **fields}
    with pytest.raises(failure):
        service(ledger).create(LoadCreate.model_validate(asked), "tester")
    with ledger.reading() as session:
        assert session.query(LoadRow).count() == 0


def test_of_many_workers_exactly_one_claims_a_load(ledger: Ledger) -> None:
    load = ask(ledger)
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda n: claim(ledger, f"worker-{n}"), range(16)))
    claimed = [one for one in claims if one is not None]
    assert [one.assignment.attempt.load_id for one in claimed] == [load.id]
    assert len(service(ledger).detail(load.id).attempts) == 1


def test_a_card_runs_one_attempt_at_a_time_by_the_database_s_own_word(ledger: Ledger) -> None:
    ask(ledger)
    second = ask(ledger, "old")
    must_claim(ledger)
    assert claim(ledger) is None
    for running in ("claimed", "programming", "verifying", "cancelling"):
        with pytest.raises(IntegrityError), ledger.transaction() as session:
            session.execute(update(LoadRow).where(LoadRow.id == second.id).values(state=running))


def test_loads_go_by_priority_and_then_by_age(ledger: Ledger) -> None:
    background = ask(ledger, priority="background")
    normal = ask(ledger)
    later = ask(ledger)
    urgent = ask(ledger, priority="interactive")
    order = []
    for _ in range(4):
        claimed = must_claim(ledger)
        order.append(claimed.assignment.attempt.load_id)
        with ledger.transaction() as session:
            settle(session, claimed.assignment.attempt, Succeeded(OLD_AFU, "done"), now())
    assert order == [urgent.id, normal.id, later.id, background.id]


def test_a_worker_whose_attempt_was_given_up_can_write_nothing(ledger: Ledger) -> None:
    load = ask(ledger)
    old = must_claim(ledger).assignment.attempt
    with ledger.transaction() as session:
        settle_lost(session, old, now())
    new = must_claim(ledger).assignment.attempt
    assert (old.number, new.number) == (1, 2)
    before = service(ledger).detail(load.id)
    with pytest.raises(Superseded), ledger.transaction() as session:
        settle(session, old, Succeeded(NEW_AFU, "too late"), now())
    with pytest.raises(Superseded), ledger.transaction() as session:
        record_progress(session, old, Progress(Phase.PROGRAMMING, 50, ""), now(), None)
    assert service(ledger).detail(load.id) == before


def test_a_success_is_settled_once_and_sets_what_is_desired(ledger: Ledger) -> None:
    load = ask(ledger)
    attempt = must_claim(ledger).assignment.attempt
    with ledger.transaction() as session:
        settle(session, attempt, Succeeded(NEW_AFU, "verified"), now())
    with pytest.raises(Superseded), ledger.transaction() as session:
        settle(session, attempt, Failed(Failure(FailureCode.INTERNAL, "no")), now())
    detail = service(ledger).detail(load.id)
    assert (detail.state, detail.afu_id, detail.progress.percent) == ("succeeded", NEW_AFU, 100.0)
    assert detail.seconds is not None
    assert [one.outcome for one in detail.attempts] == [AttemptOutcome.OK]
    with ledger.reading() as session:
        device = session.get_one(DeviceRow, (NODE, DEVICE))
        assert (device.desired_digest, device.desired_afu_id) == (digest("a"), NEW_AFU)
        assert device.afu_id == NEW_AFU


def test_a_load_that_is_not_to_persist_sets_nothing_desired(ledger: Ledger) -> None:
    ask(ledger, persist=False)
    attempt = must_claim(ledger).assignment.attempt
    with ledger.transaction() as session:
        settle(session, attempt, Succeeded(NEW_AFU, "verified"), now())
    with ledger.reading() as session:
        assert session.get_one(DeviceRow, (NODE, DEVICE)).desired_digest is None


def test_progress_never_falls_and_history_has_no_gap(ledger: Ledger) -> None:
    load = ask(ledger)
    attempt = must_claim(ledger).assignment.attempt
    shown = []
    for phase, percent in (
        (Phase.FETCHING, 10.0),
        (Phase.PROGRAMMING, 60.0),
        (Phase.PROGRAMMING, 40.0),
        (Phase.VERIFYING, 900.0),
    ):
        with ledger.transaction() as session:
            record_progress(session, attempt, Progress(phase, percent, ""), now(), None)
        shown.append(service(ledger).get(load.id).progress.percent)
    assert shown == [10.0, 60.0, 60.0, 100.0]
    history = service(ledger).detail(load.id).history
    assert [event.sequence for event in history] == list(range(1, len(history) + 1))


def test_a_load_whose_region_a_pod_holds_waits_without_an_attempt(ledger: Ledger) -> None:
    hold(ledger, "trainer")
    load = ask(ledger)
    assert claim(ledger) is None
    waiting = service(ledger).get(load.id)
    assert waiting.state is LoadState.WAITING
    assert waiting.attempt == 0
    assert waiting.error is not None
    assert waiting.error.code is FailureCode.REGION_HELD
    assert "default/trainer" in waiting.error.message


def test_a_load_that_will_not_wait_fails_with_the_pod_s_name(ledger: Ledger) -> None:
    load = ask(ledger, if_busy="fail")
    hold(ledger, "trainer")
    assert claim(ledger) is None
    failed = service(ledger).get(load.id)
    assert failed.state is LoadState.FAILED
    assert failed.error is not None
    assert failed.error.actual == "pod default/trainer"


def test_force_goes_past_a_holder_and_records_whom(ledger: Ledger) -> None:
    hold(ledger, "trainer")
    load = ask(ledger, force=True)
    assert must_claim(ledger).assignment.force
    assert "pod default/trainer" in service(ledger).detail(load.id).history[0].message


def test_a_held_load_does_not_block_the_next_one_of_its_card(ledger: Ledger) -> None:
    hold(ledger, "trainer")
    first = ask(ledger)
    second = ask(ledger, "old")
    assert must_claim(ledger).assignment.attempt.load_id == second.id
    assert state(ledger, first.id) is LoadState.WAITING


def test_a_waiting_load_wakes_when_its_node_reports_that_nobody_holds_it(ledger: Ledger) -> None:
    hold(ledger, "trainer")
    load = ask(ledger)
    claim(ledger)
    service(ledger).node_changed(NODE)
    assert state(ledger, load.id) is LoadState.WAITING
    hold(ledger, None)
    with ledger.transaction() as session:
        assert wake_waiting(session, now()) == []
    service(ledger).node_changed(NODE)
    assert state(ledger, load.id) is LoadState.QUEUED


def test_the_reconciler_wakes_a_load_whose_pause_is_over(ledger: Ledger) -> None:
    hold(ledger, "trainer")
    load = ask(ledger)
    claim(ledger)
    hold(ledger, None)
    with ledger.transaction() as session:
        assert wake_waiting(session, now() + timedelta(seconds=5)) == [load.id]


def test_a_load_of_a_stale_node_waits_for_the_node(ledger: Ledger) -> None:
    load = ask(ledger)
    with ledger.transaction() as session:
        session.execute(update(NodeRow).values(stale=True))
    claim(ledger)
    assert state(ledger, load.id) is LoadState.WAITING
    with ledger.transaction() as session:
        session.execute(update(NodeRow).values(stale=False))
    service(ledger).node_changed(NODE)
    assert state(ledger, load.id) is LoadState.QUEUED


def test_a_queued_load_is_cancelled_at_once_and_a_running_one_begins_to_stop(
    ledger: Ledger,
) -> None:
    loads = service(ledger)
    queued = ask(ledger)
    assert loads.cancel(queued.id, "admin").state is LoadState.CANCELLED
    with pytest.raises(LoadEnded):
        loads.cancel(queued.id, "admin")
    running = ask(ledger)
    must_claim(ledger)
    assert loads.cancel(running.id, "admin").state is LoadState.CANCELLING
    assert loads.cancel(running.id, "admin").state is LoadState.CANCELLING
    assert len(loads.detail(running.id).history) == 3


def test_only_an_ended_load_is_retried_and_the_new_one_names_it(ledger: Ledger) -> None:
    loads = service(ledger)
    load = ask(ledger, labels={"a": "b"}, priority="interactive", deadline_seconds=77)
    with pytest.raises(LoadOpen):
        loads.retry(load.id, "admin")
    loads.cancel(load.id, "admin")
    again = loads.retry(load.id, "admin")
    assert again.retry_of == load.id
    assert again.labels == {"a": "b"}
    assert again.priority == "interactive"
    assert (again.deadline_at - again.created_at).total_seconds() == pytest.approx(77)


def test_loads_past_their_deadline_expire_and_say_what_they_waited_for(ledger: Ledger) -> None:
    hold(ledger, "trainer")
    load = ask(ledger, deadline_seconds=1)
    claim(ledger)
    with ledger.transaction() as session:
        assert expire_overdue(session, now()) == []
        assert expire_overdue(session, now() + timedelta(seconds=2)) == [load.id]
    expired = service(ledger).get(load.id)
    assert expired.state is LoadState.EXPIRED
    assert expired.error is not None
    assert expired.error.code is FailureCode.DEADLINE_EXCEEDED
    assert "pod default/trainer" in expired.error.message


def test_a_running_load_gets_time_to_end_on_its_node(ledger: Ledger) -> None:
    load = ask(ledger, deadline_seconds=1)
    must_claim(ledger)
    with ledger.transaction() as session:
        assert expire_overdue(session, now() + timedelta(seconds=30)) == []
        assert expire_overdue(session, now() + timedelta(seconds=90)) == [load.id]
    assert service(ledger).detail(load.id).attempts[0].outcome is AttemptOutcome.LOST


def test_a_load_without_a_message_is_found_once_a_card(ledger: Ledger) -> None:
    first = ask(ledger)
    ask(ledger, "old")
    with ledger.reading() as session:
        found = undelivered(session, now() + timedelta(seconds=60))
    assert found == [first.id]
    with ledger.transaction() as session:
        mark_dispatched(session, found, now())
        assert undelivered(session, now()) == []
    must_claim(ledger)
    with ledger.reading() as session:
        assert undelivered(session, now() + timedelta(seconds=60)) == []


def test_only_attempts_whose_lease_has_run_out_are_orphans(ledger: Ledger) -> None:
    load = ask(ledger)
    must_claim(ledger)
    with ledger.reading() as session:
        assert orphans(session, now()) == []
        found = orphans(session, now() + timedelta(seconds=11))
    assert [one.assignment.attempt.load_id for one in found] == [load.id]


def test_whatever_happens_in_whatever_order_a_load_has_at_most_one_end(ledger: Ledger) -> None:
    loads = service(ledger)
    chance = random.Random(7)
    created = [ask(ledger, chance.choice(["new", "old"])) for _ in range(12)]
    ends: dict[str, LoadState] = {}
    for _ in range(60):
        _something_happens(ledger, loads, chance, created)
        with ledger.reading() as session:
            found = list_loads(session, LoadFilter(), before=None, limit=100)
        for load in found:
            assert ends.get(load.id, load.state) is load.state
            if load.state.ended:
                ends[load.id] = load.state
    assert len(ends) > 3


def _something_happens(
    ledger: Ledger, loads: LoadService, chance: random.Random, created: list[Load]
) -> None:
    ends = (Succeeded(NEW_AFU, ""), Failed(Failure(chance.choice(list(FailureCode)), "")))
    match chance.randrange(5):
        case 0 | 1:
            if claimed := claim(ledger):
                with ledger.transaction() as session:
                    settle(session, claimed.assignment.attempt, chance.choice(ends), now())
        case 2:
            claim(ledger)
        case 3:
            with ledger.transaction() as session:
                for one in orphans(session, now() + timedelta(seconds=60)):
                    settle(session, one.assignment.attempt, chance.choice(ends), now())
        case _:
            load = chance.choice(created)
            if not loads.get(load.id).state.ended and chance.random() < 0.2:
                loads.cancel(load.id, "chance")


def test_a_committed_load_is_accepted_also_where_the_ledger_locks_right_after(
    ledger: Ledger,
) -> None:
    locked = sqlite3.connect(ledger.url.database or "", isolation_level=None)

    class Locking(Silent):
        def run(self, load_id: str) -> bool:
            locked.execute("BEGIN IMMEDIATE")
            return False

    impatient = Ledger(str(ledger.url), busy_seconds=0.05)
    try:
        asked = LoadCreate(bitstream="new", target=LoadTarget(node=NODE, device=DEVICE))
        load = LoadService(impatient, Locking(), Silent()).create(asked, "tester")
    finally:
        locked.close()
        impatient.close()

    assert service(ledger).get(load.id).state is LoadState.QUEUED


def test_loads_of_a_node_that_is_away_do_not_crowd_out_the_others(ledger: Ledger) -> None:
    load = ask(ledger)
    with ledger.transaction() as session:
        session.execute(update(LoadRow).values(state=LoadState.WAITING.value))
        session.execute(update(NodeRow).values(stale=True))
    with ledger.transaction() as session:
        assert wake_waiting(session, now()) == []
        session.execute(update(NodeRow).values(stale=False))
        assert wake_waiting(session, now()) == [load.id]


def test_a_worker_that_is_told_to_end_stops_listening_also_to_what_it_just_began(
    ledger: Ledger,
) -> None:
    leases = Leases(ledger)
    stopped: list[str] = []
    with leases.hold(Attempt("load", 1)) as held:
        held.listen(lambda: stopped.append("before"))
        leases.stop()
        held.listen(lambda: stopped.append("after"))

    assert stopped == ["before", "after"]


def test_every_node_is_asked_although_one_of_them_breaks() -> None:
    asked: list[int] = []

    def ask_one(number: int) -> None:
        asked.append(number)
        if number == 3:
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        ask_all(ask_one, range(20))
    assert sorted(asked) == list(range(20))
