"""The manager's events of a load, passed on to a browser as rendered panels.

Used by the loads view. The stream ends with the load, with the manager's stream, or after ten
minutes; the browser then asks again or polls.
"""

import time
from collections.abc import Callable, Iterator
from typing import Final

from fpga_common.client import ManagerProblem, ManagerUnavailable
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
    started = time.monotonic()
    try:
        current = manager().load(load_id)
        yield frame(render(current), _sequence(current))
        if current.state.ended:
            yield ENDED
            return
        for text in _events(load_id, _sequence(current), render):
            yield text
            if time.monotonic() - started > LONGEST_SECONDS:
                return
    except (ManagerUnavailable, ManagerProblem) as failure:
        log.info("stream_ended_early", load=load_id, reason=failure.message)


def _events(load_id: str, after: int, render: Render) -> Iterator[str]:
    path = f"/api/v1/loads/{load_id}/events"
    client = manager(timeout=STREAM_SECONDS)
    for event in client.stream(path, last_event_id=after, keep_comments=True):
        if event.event != "load":
            yield PING
            continue
        set_now()
        current = manager().load(load_id)
        yield frame(render(current), _sequence(current))
        if current.state.ended:
            yield ENDED
            return


def frame(html: str, sequence: int) -> str:
    """One unnamed event, which htmx swaps in."""
    data = "\n".join(f"data: {line}" for line in html.splitlines() if line.strip())
    return f"id: {sequence}\n{data}\n\n"


ENDED: Final = "event: ended\ndata: ended\n\n"


def _sequence(load: LoadDetail) -> int:
    return load.history[-1].sequence if load.history else 0
