"""The server-sent events of one load: from the ledger, woken by Redis, and without Redis too."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Final

from flask import Flask

from fpga_bitstream_manager.failures import Unavailable
from fpga_bitstream_manager.ledger import LedgerUnavailable
from fpga_bitstream_manager.services import Services
from fpga_bitstream_manager.tasks.notices import Bell, BellBroken, listening
from fpga_common.contract.loads import LoadEventMessage
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

PING_SECONDS: Final = 15.0
LONGEST_SECONDS: Final = 600.0
#: Longest wait between two looks at the ledger, with and without Redis.
HEARING_SECONDS: Final = 1.0
DEAF_SECONDS: Final = 0.25

PING: Final = ": ping\n\n"
PLACES: Final = "fpga_load_streams"

Release = Callable[[], None]


class TooManyStreams(Unavailable):
    """As many event streams as this manager serves at a time are open. Poll the load instead."""

    code = "too_many_streams"


def take_place(app: Flask, places: int) -> Release:
    """Take one of ``places`` of the process; returns how to give it back. Raises TooManyStreams."""
    free: threading.BoundedSemaphore = app.extensions.setdefault(
        PLACES, threading.BoundedSemaphore(places)
    )
    if not free.acquire(blocking=False):
        raise TooManyStreams(f"{places} event streams are open")
    return free.release


def load_stream(services: Services, load_id: str, after: int) -> Iterator[str]:
    """The load's events behind number ``after`` to its end, as text of server-sent events.

    Ends early when the process stops, when the ledger is away, and after 10 minutes: clients
    resume with Last-Event-ID.
    """
    try:
        yield from _events(services, load_id, after)
    except LedgerUnavailable as error:
        log.warning("stream_ended", load=load_id, reason=error.message)


def _events(services: Services, load_id: str, after: int) -> Iterator[str]:
    ends_at = time.monotonic() + LONGEST_SECONDS
    said_at = time.monotonic()
    with Ear(services, load_id) as ear:
        while time.monotonic() < ends_at and not services.stopping.is_set():
            for message in services.loads.events_after(load_id, after):
                after = message.event.sequence
                said_at = time.monotonic()
                yield event_text(message)
                if message.event.state.ended:
                    return
            if time.monotonic() - said_at >= PING_SECONDS:
                said_at = time.monotonic()
                yield PING
            ear.wait()


def event_text(message: LoadEventMessage) -> str:
    """One event as text."""
    return f"id: {message.event.sequence}\nevent: load\ndata: {message.model_dump_json()}\n\n"


class Ear:
    """Waits for a change of one load: by Redis while it is there, else by the clock."""

    def __init__(self, services: Services, load_id: str) -> None:
        self._services = services
        self._load_id = load_id
        self._stack = ExitStack()
        self._bell: Bell | None = None

    def __enter__(self) -> "Ear":
        try:
            self._bell = self._stack.enter_context(listening(self._services.redis, self._load_id))
        except BellBroken as error:
            log.info("stream_without_redis", load=self._load_id, reason=str(error))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def wait(self) -> None:
        """Return when something changed, or it is time to look anyway."""
        if self._bell is None:
            self._services.stopping.wait(DEAF_SECONDS)
            return
        try:
            self._bell.wait(HEARING_SECONDS)
        except BellBroken as error:
            log.info("stream_without_redis", load=self._load_id, reason=str(error))
            self._bell = None
