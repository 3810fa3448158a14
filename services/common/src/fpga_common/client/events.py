"""Server-sent events as values."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event: ``id`` resumes the stream, ``event`` names its kind."""

    event: str
    data: str
    id: str | None = None


def parse_events(lines: Iterable[str], *, keep_comments: bool = False) -> Iterator[ServerSentEvent]:
    """Parse a ``text/event-stream``.

    Comments, which servers send as pings, are skipped, or become events named ``comment``.
    """
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
        if not field and keep_comments:
            yield ServerSentEvent("comment", value)
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            identifier = value
