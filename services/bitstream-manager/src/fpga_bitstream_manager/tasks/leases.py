"""Keeps this worker's word good: renews the leases of what it is running.

A lease that runs out makes the reconciler ask the node; it never stops an operation.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from sqlalchemy import update

from fpga_bitstream_manager.clock import Clock, utc_now
from fpga_bitstream_manager.ledger import Ledger, LedgerUnavailable
from fpga_bitstream_manager.ledger.loads import LoadRow
from fpga_bitstream_manager.loads.values import IN_FLIGHT, Attempt
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

LEASE_SECONDS: Final = 10.0
RENEW_SECONDS: Final = 3.0


@dataclass(slots=True)
class Held:
    """A running attempt of this worker."""

    attempt: Attempt
    stopping: threading.Event
    stop_listening: list[Callable[[], object]] = field(default_factory=list)

    def listen(self, stop: Callable[[], object]) -> None:
        """Note how to stop listening to the node when the worker has to end; at once if it has."""
        self.stop_listening.append(stop)
        if self.stopping.is_set():
            stop()


class Leases:
    """The leases of one worker process. Safe to use from several threads."""

    def __init__(self, ledger: Ledger, clock: Clock = utc_now) -> None:
        self._ledger = ledger
        self._clock = clock
        self._held: dict[Attempt, Held] = {}
        self._lock = threading.Lock()
        self.stopping = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease-keeper", daemon=True)

    def start(self) -> None:
        """Begin to renew."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening to every node; each attempt is then left to the reconciler."""
        self.stopping.set()
        with self._lock:
            held = list(self._held.values())
        for one in held:
            for stop in one.stop_listening:
                stop()
        if self._thread.is_alive():
            self._thread.join(RENEW_SECONDS)

    @contextmanager
    def hold(self, attempt: Attempt) -> Iterator[Held]:
        """Renew an attempt's lease meanwhile; end it with the block, settled or not."""
        held = Held(attempt, self.stopping)
        with self._lock:
            self._held[attempt] = held
        try:
            yield held
        finally:
            with self._lock:
                del self._held[attempt]
            self._write([attempt], 0.0)

    def _keep(self) -> None:
        while not self.stopping.wait(RENEW_SECONDS):
            with self._lock:
                attempts = list(self._held)
            try:
                self._write(attempts, LEASE_SECONDS)
            except LedgerUnavailable as error:
                log.warning("leases_not_renewed", reason=error.message)

    def _write(self, attempts: list[Attempt], seconds: float) -> None:
        if not attempts:
            return
        until = self._clock() + timedelta(seconds=seconds)
        with self._ledger.transaction() as session:
            for attempt in attempts:
                session.execute(
                    update(LoadRow)
                    .where(
                        LoadRow.id == attempt.load_id,
                        LoadRow.attempt == attempt.number,
                        LoadRow.state.in_(IN_FLIGHT),
                    )
                    .values(lease_until=until)
                )
