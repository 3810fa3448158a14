"""Who holds which device: the journal of Allocate and the kubelet's own answer, joined.

Allocate writes here; the agent's handover, the report and the metrics ask. The rules are in
``holding``.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from fpga_common.observability.logging import get_logger
from fpga_plugin.kubelet.holding import DeviceHolder, Hold, holder_of, settle
from fpga_plugin.kubelet.journal import HoldJournal
from fpga_plugin.kubelet.podresources import PodResourcesReader, PodResourcesUnavailable

POLL_SECONDS: Final = 5.0
SOON_SECONDS: Final = 0.3
"""How long after an Allocate the kubelet is asked for the pod's name."""

ASK_SECONDS: Final = 2.0
STOP_SECONDS: Final = 5.0

log = get_logger(__name__)


class Holders:
    """The holders of this node's devices; thread-safe. ``on_change`` must not block."""

    on_change: Callable[[], None] | None = None

    def __init__(
        self,
        journal: HoldJournal,
        reader: PodResourcesReader,
        *,
        poll_seconds: float = POLL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._journal = journal
        self._reader = reader
        self._poll_seconds = poll_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._holds = journal.load(clock())
        self._applied = float("-inf")
        self._reachable: bool | None = None
        self._news = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._poll, name="pod-resources", daemon=True)

    def start(self) -> None:
        """Ask the kubelet from time to time."""
        self._thread.start()

    def stop(self) -> None:
        """End the asking and close the journal."""
        self._stopping.set()
        self._news.set()
        self._reader.close()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)
        with self._lock:
            self._journal.close()

    def current(self) -> tuple[DeviceHolder, ...]:
        """Every holder as last known, sorted by device."""
        with self._lock:
            holds = list(self._holds.values())
        return tuple(holder_of(hold) for hold in sorted(holds, key=lambda hold: hold.device))

    def fresh_holder(self, device_id: str, deadline: float) -> DeviceHolder | None:
        """Who holds the device, the kubelet asked now; ``deadline`` is on the monotonic clock.

        Raises:
            PodResourcesUnavailable: the kubelet cannot be asked, so nothing is certain.
        """
        self._ask(deadline)
        with self._lock:
            hold = self._holds.get(device_id)
        return holder_of(hold) if hold is not None else None

    def withdrawn(self, device_id: str, deadline: float) -> bool:
        """Whether the kubelet will give the device to nobody.

        Raises:
            PodResourcesUnavailable: the kubelet cannot be asked.
        """
        return device_id not in self._reader.allocatable(deadline)

    def allocated(self, resource: str, device_ids: Sequence[str]) -> Callable[[], None]:
        """Write down that devices are held; the answer takes it back. Called by Allocate."""
        now = self._clock()
        fresh = {
            device: Hold(device, resource, time.time(), allocated_at=now, unseen_since=now)
            for device in device_ids
        }
        with self._lock:
            before = {device: self._holds.get(device) for device in fresh}
            self._replace({**self._holds, **fresh})
        self._news.set()
        return lambda: self._take_back(fresh, before)

    def _take_back(self, fresh: dict[str, Hold], before: dict[str, Hold | None]) -> None:
        with self._lock:
            holds = dict(self._holds)
            for device, hold in fresh.items():
                if holds.get(device) == hold:
                    del holds[device]
                    earlier = before[device]
                    if earlier is not None:
                        holds[device] = earlier
            self._replace(holds)

    def _ask(self, deadline: float) -> None:
        listing = self._reader.listing(deadline)
        with self._lock:
            if listing.asked_at < self._applied:
                return
            self._applied = listing.asked_at
            self._replace(settle(self._holds, listing, time.time()))

    def _replace(self, holds: dict[str, Hold]) -> None:
        before, self._holds = self._holds, holds
        changed = [hold for device, hold in holds.items() if _differs(before.get(device), hold)]
        self._journal.write(changed, before.keys() - holds.keys())

    def _poll(self) -> None:
        known: tuple[DeviceHolder, ...] = ()
        while not self._stopping.is_set():
            self._news.clear()
            try:
                self._try_ask()
                self._tend_journal()
                known = self._tell(known)
            except Exception:
                # Whatever goes wrong here must not end the only thread that sees pods end.
                log.exception("holder_poll_failed")
            if self._news.wait(self._poll_seconds):
                known = self._tell(known)
                self._stopping.wait(SOON_SECONDS)

    def _try_ask(self) -> None:
        try:
            self._ask(time.monotonic() + ASK_SECONDS)
        except PodResourcesUnavailable as error:
            if self._reachable is not False and not self._stopping.is_set():
                log.warning("pod_resources_unavailable", reason=error.message)
            self._reachable = False
            return
        if self._reachable is False:
            log.info("pod_resources_available")
        self._reachable = True

    def _tend_journal(self) -> None:
        with self._lock:
            self._journal.compact_if_long(self._holds.values())
        self._journal.sync()

    def _tell(self, known: tuple[DeviceHolder, ...]) -> tuple[DeviceHolder, ...]:
        current = self.current()
        if current != known and self.on_change is not None:
            self.on_change()
        return current


def _differs(before: Hold | None, after: Hold) -> bool:
    """Whether the journal has anything to learn."""
    if before is None:
        return True
    return (before.resource, before.since, before.holder) != (
        after.resource,
        after.since,
        after.holder,
    )
