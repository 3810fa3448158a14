"""One of several reconcilers acts, by a lease row in the ledger; the others stand by."""

from datetime import timedelta
from typing import Any, Final, cast

from sqlalchemy import CursorResult, delete, or_, update
from sqlalchemy.exc import IntegrityError

from fpga_bitstream_manager.clock import Clock, utc_now
from fpga_bitstream_manager.ledger import Ledger
from fpga_bitstream_manager.ledger.loads import LeaseRow

NAME: Final = "reconciler"
LEASE_SECONDS: Final = 10.0


class ReconcilerLease:
    """This process's claim to act. Every call raises LedgerUnavailable."""

    def __init__(self, ledger: Ledger, holder: str, clock: Clock = utc_now) -> None:
        self._ledger = ledger
        self._holder = holder
        self._clock = clock

    def acquire(self) -> bool:
        """Take or renew the lease; False while another process has it."""
        now = self._clock()
        until = now + timedelta(seconds=LEASE_SECONDS)
        free = or_(LeaseRow.holder == self._holder, LeaseRow.until <= now)
        statement = (
            update(LeaseRow)
            .where(LeaseRow.name == NAME, free)
            .values(holder=self._holder, until=until)
        )
        try:
            with self._ledger.transaction() as session:
                result = cast("CursorResult[Any]", session.execute(statement))
                if result.rowcount == 1:
                    return True
                if session.get(LeaseRow, NAME) is not None:
                    return False
                session.add(LeaseRow(name=NAME, holder=self._holder, until=until))
        except IntegrityError:  # another process made the row in the same moment
            return False
        return True

    def release(self) -> None:
        """Let another process act at once."""
        with self._ledger.transaction() as session:
            session.execute(
                delete(LeaseRow).where(LeaseRow.name == NAME, LeaseRow.holder == self._holder)
            )
