"""Steps of the reconciler that need neither queue nor node, on a real ledger with a dead Redis."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from sqlalchemy import update

from fpga_bitstream_manager.access.idempotency import (
    IdempotencyKey,
    IdempotencyKeyReused,
    answer_once,
    forget_old,
)
from fpga_bitstream_manager.clock import utc_now
from fpga_bitstream_manager.ledger import IdempotencyRow, Ledger, NodeRow
from fpga_bitstream_manager.memory import open_redis
from fpga_bitstream_manager.nodes.heartbeats import Heartbeats
from fpga_bitstream_manager.reconciler.lease import ReconcilerLease
from fpga_bitstream_manager.reconciler.staleness import mark_stale
from fpga_bitstream_manager.settings import RedisSettings
from fpga_common.testing.waiting import free_port
from support.loads_bench import NODE


def heard_of(ledger: Ledger, at: datetime) -> None:
    with ledger.transaction() as session:
        session.execute(update(NodeRow).values(last_seen_at=at))


def turned(ledger: Ledger, at: datetime) -> tuple[tuple[str, ...], tuple[str, ...]]:
    settings = RedisSettings(url=f"redis://127.0.0.1:{free_port()}/0")
    with open_redis(settings) as absent, ledger.transaction() as session:
        found = mark_stale(session, Heartbeats(absent, ledger).last_seen(), at)
    return found.gone, found.returned


def test_a_node_unheard_of_for_90_seconds_is_stale_until_it_is_heard_of(ledger: Ledger) -> None:
    now = datetime.now(UTC)
    heard_of(ledger, now)
    assert turned(ledger, now + timedelta(seconds=80)) == ((), ())
    assert turned(ledger, now + timedelta(seconds=100)) == ((NODE,), ())
    assert turned(ledger, now + timedelta(seconds=100)) == ((), ())
    heard_of(ledger, now + timedelta(seconds=99))
    assert turned(ledger, now + timedelta(seconds=100)) == ((), (NODE,))


def test_the_lease_is_one_holder_s_until_it_runs_out_or_is_given_back(ledger: Ledger) -> None:
    at = datetime.now(UTC)
    first = ReconcilerLease(ledger, "first", lambda: at)
    second = ReconcilerLease(ledger, "second", lambda: at)
    assert first.acquire()
    assert not second.acquire()
    late = ReconcilerLease(ledger, "late", lambda: at + timedelta(seconds=11))
    assert late.acquire()
    assert not first.acquire()
    late.release()
    assert first.acquire()


def test_a_kept_answer_is_given_again_until_it_is_forgotten(ledger: Ledger) -> None:
    key = IdempotencyKey("tester", "key-1", "f" * 64)
    times = count(1)

    def answer(key: IdempotencyKey) -> object:
        return answer_once(ledger, utc_now, key, lambda _session: {"times": next(times)})

    assert answer(key) == answer(key) == {"times": 1}
    with pytest.raises(IdempotencyKeyReused):
        answer(IdempotencyKey("tester", "key-1", "0" * 64))
    assert answer(IdempotencyKey("other", "key-1", "0" * 64)) == {"times": 2}
    with ledger.transaction() as session:
        forget_old(session, utc_now() + timedelta(hours=25))
        assert session.query(IdempotencyRow).count() == 0


def test_work_that_fails_keeps_no_answer(ledger: Ledger) -> None:
    key = IdempotencyKey("tester", "key-1", "f" * 64)

    def refuse(_session: object) -> dict[str, object]:
        raise ValueError("refused")

    with pytest.raises(ValueError, match="refused"):
        answer_once(ledger, utc_now, key, refuse)
    assert answer_once(ledger, utc_now, key, lambda _session: {"done": True}) == {"done": True}
