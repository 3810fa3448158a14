"""The ``migrate`` command: waits for the database, then brings it to the newest revision."""

import threading
import time
from pathlib import Path
from typing import Final

from fpga_bitstream_manager.ledger.engine import Ledger, LedgerUnavailable
from fpga_bitstream_manager.ledger.migration import migrate
from fpga_bitstream_manager.settings import ManagerSettings
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

WAIT_SECONDS: Final = 120.0
PAUSE_SECONDS: Final = 1.0


def run(settings: ManagerSettings) -> int:
    """Migrate; exit code 1 when the database does not answer within two minutes."""
    ledger = Ledger(settings.database.url, busy_seconds=settings.database.busy_seconds)
    if ledger.is_sqlite and ledger.url.database:
        Path(ledger.url.database).parent.mkdir(parents=True, exist_ok=True)
    try:
        return _migrate_when_possible(ledger)
    finally:
        ledger.close()


def _migrate_when_possible(ledger: Ledger) -> int:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            log.info("ledger_migrated", revision=migrate(ledger))
            return 0
        except LedgerUnavailable as error:
            if time.monotonic() >= deadline:
                log.exception("ledger_unavailable", reason=error.message)
                return 1
            log.warning("waiting_for_ledger", reason=error.message)
            threading.Event().wait(PAUSE_SECONDS)
