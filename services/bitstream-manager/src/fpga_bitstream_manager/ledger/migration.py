"""Brings the ledger to the newest revision, and waits until somebody did.

``migrate`` calls ``migrate``; api, worker and reconciler call ``wait_until_current`` and never
migrate by themselves: with several of them starting, one command decides.
"""

import threading
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from fpga_bitstream_manager.ledger.engine import Ledger, LedgerUnavailable
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

VERSION_TABLE = "alembic_version"
MIGRATION_LOCK = 0x66706761  # "fpga": the PostgreSQL advisory lock that one migration holds


def migrations_folder() -> Path:
    """Where the revisions are: inside the installed package, or beside ``src`` in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "migrations"
    return installed if installed.is_dir() else package.parent.parent / "migrations"


@cache
def newest_revision() -> str:
    """The revision that this code needs."""
    return ScriptDirectory(str(migrations_folder())).get_current_head() or ""


def current_revision(ledger: Ledger) -> str | None:
    """The ledger's revision, None for an empty one. Raises LedgerUnavailable."""
    with ledger.reading() as session:
        if not inspect(session.connection()).has_table(VERSION_TABLE):
            return None
        revision: str | None = session.scalar(
            text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608
        )
        return revision


def migrate(ledger: Ledger) -> str:
    """Bring the ledger to the newest revision, all or nothing; safe to run twice at a time.

    Raises LedgerUnavailable.
    """
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    with ledger.writing_connection() as connection:
        if not ledger.is_sqlite:
            connection.execute(
                text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": MIGRATION_LOCK}
            )
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return newest_revision()


def require_current(ledger: Ledger) -> None:
    """Raise LedgerUnavailable unless the ledger is at the newest revision."""
    newest, current = newest_revision(), current_revision(ledger)
    if current != newest:
        raise LedgerUnavailable(
            "the ledger is not migrated; run fpga-bitstream-manager migrate",
            expected=newest,
            actual=current or "empty",
        )


def wait_until_current(
    ledger: Ledger, stopping: threading.Event, *, interval: float = 0.5, say_every: float = 5.0
) -> bool:
    """Wait until the ledger can be used, and say so every ``say_every`` seconds.

    Returns False when ``stopping`` was set before.
    """
    waited = 0.0
    while not stopping.is_set():
        try:
            require_current(ledger)
        except LedgerUnavailable as reason:
            if waited % say_every < interval:
                log.warning("waiting_for_ledger", reason=reason.message, revision=reason.actual)
            waited += interval
            stopping.wait(interval)
        else:
            return True
    return False
