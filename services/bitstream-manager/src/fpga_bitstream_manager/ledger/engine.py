"""The ledger: one database, opened the same way by every process.

Called by services. Database failures that may pass become LedgerUnavailable here, at the edge.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolExhausted
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from fpga_bitstream_manager.failures import Unavailable

WRITING = "fpga_writing"


class LedgerUnavailable(Unavailable):
    """The ledger (the manager's database) cannot be used now: it is locked, absent, or not
    migrated yet. ``fpga-bitstream-manager migrate`` brings it up to date; otherwise try again.
    """

    code = "ledger_unavailable"


class Ledger:
    """The database behind ``url``. ``busy_seconds`` is the longest wait for another writer."""

    def __init__(self, url: str, *, busy_seconds: float = 10.0) -> None:
        self.url = make_url(url)
        self.engine = _engine(url, busy_seconds)
        self._writer = self.engine.execution_options(**{WRITING: True})

    @property
    def is_sqlite(self) -> bool:
        """Whether it is one file."""
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """A session that commits at the end, or rolls back on any exception.

        On SQLite the write lock is held from the block's first line: what was read stays true, and
        a time that is taken inside is not older than the wait for the lock.

        Raises:
            LedgerUnavailable: locked for longer than ``busy_seconds``, or away.
        """
        with (
            _translated(),
            Session(self._writer, expire_on_commit=False) as session,
            session.begin(),
        ):
            session.connection()
            yield session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that sees one state of the ledger and changes nothing.

        Raises:
            LedgerUnavailable: away.
        """
        with _translated(), Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing_connection(self) -> Iterator[Connection]:
        """One write transaction without ORM, for migrations."""
        with _translated(), self._writer.begin() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def after_commit(session: Session, action: Callable[[], None]) -> None:
    """Call ``action`` once ``session``'s transaction is committed; never after a rollback."""
    event.listen(session, "after_commit", lambda _session: action(), once=True)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise LedgerUnavailable(f"ledger: {_cause(error)}") from error
    except PoolExhausted as error:
        raise LedgerUnavailable("ledger: every connection is in use") from error


def _cause(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0] if error.orig else type(error).__name__


def _engine(url: str, busy_seconds: float) -> Engine:
    if make_url(url).get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True, pool_timeout=busy_seconds)
    engine = create_engine(
        url, connect_args={"timeout": busy_seconds}, pool_timeout=busy_seconds, pool_size=16
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    """Set what SQLite forgets between connections; transactions are begun by ``_begin_sqlite``."""
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    options: dict[str, Any] = dict(connection.get_execution_options())
    connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get(WRITING) else "BEGIN")
