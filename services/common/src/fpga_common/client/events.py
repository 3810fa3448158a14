"""Server-sent events as values."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event: ``id`` resumes the stream, ``event`` names its kind."""

    event: str
    data: str
    id: str | None = None


def parse_events(lines: Iterable[str]) -> Iterator[ServerSentEvent]:
    """Parse a ``text/event-stream``; comments are skipped."""
    name = "message"
    data: list[str] = []
    identifier: str | None = None
    for line in lines:
        if not line:
            if data:
                yield ServerSentEvent(name, "\n".join(data), identifier)
            name, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            identifier = value
