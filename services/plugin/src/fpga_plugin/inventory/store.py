"""The node's cards, kept current by threads of its own.

``serve`` starts it; kubelet side, agent, report and metrics read snapshots and wait for changes.
It must not know any of them. Threads: one discovers, one a card reads, one supervises deadlines.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from fpga_common.observability.logging import get_logger
from fpga_plugin.backends.protocol import Backend, FoundCard
from fpga_plugin.inventory.discovery import Discovered, Discovery
from fpga_plugin.inventory.repeating import Repeating
from fpga_plugin.inventory.snapshot import Overlay, Snapshot, differ, unchanged
from fpga_plugin.inventory.watch import Watch

log = get_logger(__name__)

__all__ = ["InventoryStore", "Snapshot"]

STOP_SECONDS: Final = 1.0
FIRST_DEADLINES: Final = 2.0
"""Deadlines that the start waits for the cards: a thread may begin late on a busy machine."""

_SUPERVISIONS_PER_DEADLINE: Final = 8


class InventoryStore:
    """Discovers cards, reads each in a thread of its own, and says when anything changes."""

    def __init__(
        self,
        backends: Sequence[Backend],
        *,
        interval_seconds: float,
        overlay: Overlay = unchanged,
        deadline_seconds: float = 2.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Times in seconds; ``clock`` gives seconds since the epoch."""
        self._interval = interval_seconds
        self._deadline = deadline_seconds
        self._overlay = overlay
        self._clock = clock
        self._changed = threading.Condition(threading.RLock())
        self._watches: dict[str, Watch] = {}
        self._snapshot = Snapshot((), 0, clock())
        self._stopping = threading.Event()
        self._discovery: Repeating[Discovered] = Repeating(
            "inventory-discovery",
            Discovery(backends).look,
            finished=self._discovered,
            overdue=lambda: log.warning("discovery_hangs", deadline_seconds=deadline_seconds),
            deadline_seconds=deadline_seconds,
        )
        self._supervisor = threading.Thread(
            target=self._supervise, name="inventory-supervisor", daemon=True
        )

    def start(self) -> None:
        """Start reading; returns once every card was read or hangs, so that each is listed."""
        self._discovery.start()
        self._supervisor.start()
        if self._discovery.wait_for_first(self._deadline):
            with self._changed:
                self._changed.wait_for(self._all_known, FIRST_DEADLINES * self._deadline)

    def stop(self) -> None:
        """Stop reading and wait for the threads, except those that a card holds up."""
        self._stopping.set()
        works: list[Repeating[Any]] = [self._discovery]
        works += [watch.reading for watch in self._current_watches()]
        for work in works:
            work.stop()
        end = time.monotonic() + STOP_SECONDS
        for work in works:
            work.join(max(0.0, end - time.monotonic()))
        self._supervisor.join(STOP_SECONDS)
        with self._changed:
            self._changed.notify_all()

    def snapshot(self) -> Snapshot:
        """The cards now."""
        with self._changed:
            return self._snapshot

    def wait_for_change(self, after_revision: int, timeout: float) -> Snapshot:
        """The first snapshot later than ``after_revision``; the current one after ``timeout`` s.

        Returns early, with the current one, when the store stops.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._snapshot.revision > after_revision or self._stopping.is_set(),
                timeout,
            )
            return self._snapshot

    def rescan(self, card_id: str) -> None:
        """Read a card anew; the result is in the snapshot on return, at most a deadline later.

        A card that hangs is then unhealthy in the snapshot; one that is not known is looked for.
        """
        with self._changed:
            watch = self._watches.get(card_id)
            work = watch.reading if watch and not watch.is_gone else self._discovery
        if not work.run_now(self._deadline):
            work.supervise()

    def touch(self) -> None:
        """Apply the overlay again; the result is in the snapshot on return."""
        with self._changed:
            self._publish()

    def _discovered(self, cards: Discovered) -> float:
        with self._changed:
            for card_id, (backend, found) in cards.items():
                self._see(card_id, backend, found)
            for card_id, watch in self._watches.items():
                if card_id not in cards:
                    watch.gone()
            self._publish()
        return self._interval

    def _see(self, card_id: str, backend: Backend, found: FoundCard) -> None:
        watch = self._watches.get(card_id)
        if watch is not None:
            watch.seen(backend, found)
            return
        watch = self._watches[card_id] = Watch(
            backend,
            found,
            interval_seconds=self._interval,
            deadline_seconds=self._deadline,
            clock=self._clock,
            changed=self._take,
        )
        watch.reading.start()

    def _take(self, change: Callable[[], None]) -> None:
        with self._changed:
            change()
            self._publish()

    def _publish(self) -> None:
        known = [watch.card for watch in self._watches.values()]
        cards = tuple(
            self._overlay(card)
            for card in sorted((card for card in known if card), key=lambda card: card.id)
        )
        changed = differ(self._snapshot.cards, cards)
        revision = self._snapshot.revision + changed
        self._snapshot = Snapshot(cards, revision, self._clock())
        if changed:
            self._changed.notify_all()

    def _supervise(self) -> None:
        pause = min(self._interval, self._deadline / _SUPERVISIONS_PER_DEADLINE)
        while not self._stopping.wait(pause):
            self._supervise_once()

    def _supervise_once(self) -> None:
        self._discovery.supervise()
        for watch in self._current_watches():
            watch.reading.supervise()
        self._forget_expired()

    def _forget_expired(self) -> None:
        with self._changed:
            expired = [card_id for card_id, watch in self._watches.items() if watch.expired]
            for card_id in expired:
                del self._watches[card_id]
            if expired:
                self._publish()

    def _all_known(self) -> bool:
        return all(watch.card is not None for watch in self._watches.values())

    def _current_watches(self) -> tuple[Watch, ...]:
        with self._changed:
            return tuple(self._watches.values())
