"""The report as a value: what ``fpga_common.contract.report`` describes, without pydantic.

Pure; ``report.reporter`` decides when it is sent.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from fpga_common.domain.card import Card
from fpga_common.domain.documents import inventory_document

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NodeState:
    """Everything that a report tells, in plain JSON values but for the cards."""

    node: str
    cards: tuple[Card, ...] = ()
    holders: tuple[Document, ...] = ()
    pools: tuple[Document, ...] = ()
    facts: Document = field(default_factory=dict)
    agent: Document | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """A full report; ``digest`` is of everything but sensor values and times of reporting.

    ``urgency`` is a digest too, of what a change of is told at once: values that move all the time
    while a fault lasts are left out.
    """

    document: Document
    digest: str
    urgency: str
    sensors: dict[str, dict[str, float]]


def make_report(state: NodeState) -> Report:
    """The report of a state."""
    document: Document = {
        "node": state.node,
        "agent": state.agent,
        "facts": state.facts,
        "inventory": inventory_document(state.cards),
        "holders": list(state.holders),
        "pools": list(state.pools),
    }
    steady = {**document, "inventory": _without(("sensors",), document["inventory"])}
    urgent = {**document, "inventory": _without(("sensors", "observed"), document["inventory"])}
    sensors = {card.id: dict(card.sensors) for card in state.cards if card.sensors}
    return Report(document, _digest(steady), _digest(urgent), sensors)


def full_message(report: Report, now: float) -> Document:
    """What is sent as a NodeReport; ``now`` is seconds since the epoch."""
    return {**report.document, "digest": report.digest, "reported_at": timestamp(now)}


def heartbeat_message(report: Report, now: float) -> Document:
    """What is sent as a NodeHeartbeat."""
    return {
        "node": report.document["node"],
        "digest": report.digest,
        "reported_at": timestamp(now),
        "sensors": report.sensors,
    }


def timestamp(seconds: float) -> str:
    """Seconds since the epoch as RFC 3339 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def drivers_of(cards: Iterable[Card]) -> Sequence[str]:
    """The drivers that hold the cards' functions, sorted."""
    return sorted({f.driver for card in cards for f in card.functions if f.driver})


def _without(keys: tuple[str, ...], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(keys, entry) for key, entry in value.items() if key not in keys}
    if isinstance(value, list):
        return [_without(keys, entry) for entry in value]
    return value


def _digest(document: Document) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
