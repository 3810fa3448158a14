"""The ledger: transactions, locks, times, migrations."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy.exc import StatementError

import fpga_bitstream_manager.ledger.loads  # noqa: F401 - registers its tables
from fpga_bitstream_manager.ledger import Ledger, LedgerUnavailable, Row, TokenRow, after_commit
from fpga_bitstream_manager.ledger.migration import (
    current_revision,
    migrate,
    newest_revision,
    require_current,
    wait_until_current,
)

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    own = Ledger(f"sqlite:///{tmp_path}/ledger.db", busy_seconds=0.1)
    yield own
    own.close()


@pytest.fixture
def migrated(ledger: Ledger) -> Ledger:
    migrate(ledger)
    return ledger


def token(name: str, created_at: datetime = NOW) -> TokenRow:
    return TokenRow(
        name=name, secret_hash=name, role="viewer", created_by="test", created_at=created_at
    )


def test_the_migrated_tables_are_those_of_the_models(migrated: Ledger) -> None:
    with migrated.reading() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_type": True})
        assert compare_metadata(context, Row.metadata) == []


def test_migrating_twice_changes_nothing(migrated: Ledger) -> None:
    assert migrate(migrated) == newest_revision() == current_revision(migrated)


def test_two_migrations_at_a_time_both_succeed(tmp_path: Path) -> None:
    failures: list[Exception] = []

    def run() -> None:
        own = Ledger(f"sqlite:///{tmp_path}/both.db", busy_seconds=30)
        try:
            migrate(own)
        except LedgerUnavailable as error:
            failures.append(error)
        finally:
            own.close()

    threads = [threading.Thread(target=run, name=f"migrate-{n}") for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []


def test_an_empty_ledger_is_unavailable_and_says_what_to_run(ledger: Ledger) -> None:
    with pytest.raises(LedgerUnavailable, match="migrate") as raised:
        require_current(ledger)
    assert (raised.value.expected, raised.value.actual) == (newest_revision(), "empty")


def test_waiting_for_the_ledger_ends_when_it_is_migrated_or_when_told(ledger: Ledger) -> None:
    stopping = threading.Event()
    stopping.set()
    assert not wait_until_current(ledger, stopping)

    migrate(ledger)
    assert wait_until_current(ledger, threading.Event())


def test_a_transaction_that_raises_leaves_nothing(migrated: Ledger) -> None:
    committed: list[str] = []

    def write_and_fail() -> None:
        with migrated.transaction() as session:
            session.add(token("a"))
            after_commit(session, lambda: committed.append("a"))
            session.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()

    with migrated.reading() as session:
        assert session.get(TokenRow, "a") is None
    assert committed == []


def test_after_commit_runs_once_the_row_can_be_seen_by_others(migrated: Ledger) -> None:
    seen: list[bool] = []

    def look() -> None:
        with migrated.reading() as other:
            seen.append(other.get(TokenRow, "a") is not None)

    with migrated.transaction() as session:
        session.add(token("a"))
        after_commit(session, look)

    assert seen == [True]


def test_a_second_writer_is_refused_after_its_patience_and_readers_never_wait(
    migrated: Ledger,
) -> None:
    with migrated.transaction() as session:
        session.add(token("a"))
        session.flush()
        with migrated.reading() as reader:
            assert reader.get(TokenRow, "a") is None
        with pytest.raises(LedgerUnavailable, match="locked"), migrated.transaction() as second:
            second.connection()


def test_a_ledger_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/no/such/folder/ledger.db")
    with pytest.raises(LedgerUnavailable), ledger.reading() as session:
        session.connection()
    ledger.close()


def test_times_come_back_in_utc_whatever_zone_they_had(migrated: Ledger) -> None:
    there = NOW.astimezone(timezone(timedelta(hours=5)))
    with migrated.transaction() as session:
        session.add(token("a", created_at=there))

    with migrated.reading() as session:
        row = session.get(TokenRow, "a")
        assert row is not None
        assert row.created_at == NOW
        assert row.created_at.tzinfo is UTC


def test_a_time_without_zone_is_refused(migrated: Ledger) -> None:
    with migrated.reading() as session:
        session.add(token("a", created_at=NOW.replace(tzinfo=None)))
        with pytest.raises(StatementError):
            session.flush()


def test_when_every_connection_is_in_use_the_ledger_is_unavailable(migrated: Ledger) -> None:
    with ExitStack() as busy:
        for _ in range(16 + 10):  # SQLAlchemy's pool and its overflow
            busy.enter_context(migrated.reading()).connection()

        with pytest.raises(LedgerUnavailable, match="in use"), migrated.reading() as session:
            session.connection()


def test_a_transaction_holds_the_lock_from_its_first_line(migrated: Ledger) -> None:
    other = Ledger(str(migrated.url), busy_seconds=0.05)
    try:
        with migrated.transaction():
            assert not _can_write(other)
        assert _can_write(other)
    finally:
        other.close()


def _can_write(ledger: Ledger) -> bool:
    try:
        with ledger.transaction():
            return True
    except LedgerUnavailable:
        return False
