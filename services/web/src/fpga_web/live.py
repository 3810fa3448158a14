"""The manager's events of a load, passed on to a browser as rendered panels.

Used by the loads view. The stream ends with the load, with the manager's stream, or after ten
minutes; the browser then asks again or polls.
"""

import time
from collections.abc import Callable, Iterator
from typing import Final

from fpga_common.client import ManagerProblem, ManagerUnavailable
from fpga_common.client.events import ServerSentEvent
from fpga_common.contract.loads import LoadDetail
from fpga_common.observability.logging import get_logger
from fpga_web.manager import STREAM_SECONDS, manager
from fpga_web.rendering import set_now

LONGEST_SECONDS: Final = 600.0
PING: Final = ": ping\n\n"
log = get_logger(__name__)

Render = Callable[[LoadDetail], str]


def follow(load_id: str, render: Render) -> Iterator[str]:
    """Frames for one browser: the panel now, then at each event, and ``ended`` at the end."""
    deadline = time.monotonic() + LONGEST_SECONDS
    try:
        current = manager().load(load_id)
        yield from _frames(current, render)
        for event in _events(current):
            if time.monotonic() > deadline:
                return
            yield from _frames(_read(load_id), render) if event.event == "load" else (PING,)
        yield from _frames(_read(load_id), render)
    except (ManagerUnavailable, ManagerProblem) as failure:
        log.info("stream_ended_early", load=load_id, reason=failure.message)
        yield INTERRUPTED


def _events(current: LoadDetail) -> Iterator[ServerSentEvent]:
    if current.state.ended:
        return
    yield from manager(timeout=STREAM_SECONDS).stream(
        f"/api/v1/loads/{current.id}/events",
        last_event_id=_sequence(current),
        keep_comments=True,
    )


def _read(load_id: str) -> LoadDetail:
    set_now()
    return manager().load(load_id)


def _frames(current: LoadDetail, render: Render) -> Iterator[str]:
    yield frame(render(current), _sequence(current))
    if current.state.ended:
        yield ENDED


def frame(html: str, sequence: int) -> str:
    """One unnamed event, which htmx swaps in."""
    data = "\n".join(f"data: {line}" for line in html.splitlines() if line.strip())
    return f"id: {sequence}\n{data}\n\n"


ENDED: Final = "event: ended\ndata: ended\n\n"
INTERRUPTED: Final = "retry: 5000\nevent: interrupted\ndata: interrupted\n\n"


def _sequence(load: LoadDetail) -> int:
    return load.history[-1].sequence if load.history else 0
