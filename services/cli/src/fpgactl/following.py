"""Following a load to its end: by its event stream, and by asking when that breaks."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fpga_common.client.errors import ManagerProblem, ManagerUnavailable
from fpga_common.client.manager import ManagerClient
from fpga_common.contract.loads import Load

SERVER_ERROR = 500


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: between two questions, without an answer, and beyond the load's own deadline."""

    poll: float = 1.0
    unreachable: float = 60.0
    overdue: float = 60.0


DEFAULT_PATIENCE = Patience()


def follow(
    client: ManagerClient,
    load: Load,
    *,
    patience: Patience = DEFAULT_PATIENCE,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Load]:
    """Yield the load each time that it changed; the last one has ended.

    Raises:
        ManagerUnavailable: no answer for ``patience.unreachable`` seconds, or the load is overdue.
        ManagerProblem: the manager refuses to tell.
    """
    yield load
    if load.state.ended:
        return
    for current in _stream(client, load.id):
        yield current
        if current.state.ended:
            return
    yield from _poll(client, load, patience, sleep)


def _stream(client: ManagerClient, load_id: str) -> Iterator[Load]:
    """The stream's loads until it ends or breaks."""
    try:
        for message in client.watch_load(load_id):
            yield message.load
    except ManagerProblem as error:
        if error.status < SERVER_ERROR:
            raise
    except (ManagerUnavailable, ValueError):
        return


def _poll(
    client: ManagerClient, load: Load, patience: Patience, sleep: Callable[[float], None]
) -> Iterator[Load]:
    lifetime = (load.deadline_at - load.created_at).total_seconds()
    give_up = time.monotonic() + lifetime + patience.overdue
    answered = time.monotonic()
    while time.monotonic() < give_up:
        try:
            current = client.load(load.id)
        except ManagerUnavailable:
            if time.monotonic() - answered > patience.unreachable:
                raise
        else:
            answered = time.monotonic()
            yield current
            if current.state.ended:
                return
        sleep(patience.poll)
    raise ManagerUnavailable(f"load {load.id} is past its deadline and has not ended")
