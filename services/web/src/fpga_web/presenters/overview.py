"""The first page: counts that lead to lists, what needs attention, what happened last."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fpga_common.contract.nodes import Device
from fpga_common.contract.system import Overview
from fpga_common.domain.health import WORST_FIRST, HealthStatus
from fpga_common.domain.load import OPEN_STATES
from fpga_web.presenters.devices import DeviceRow, ordered, row
from fpga_web.presenters.loads import LoadRow
from fpga_web.presenters.loads import rows as load_rows
from fpga_web.presenters.status import HEALTH, LOAD, REGION, Status

ATTENTION: Final = 8
ATTENTION_HEALTH: Final = (HealthStatus.UNHEALTHY, HealthStatus.UNKNOWN, HealthStatus.WARNING)
BAR_WIDTH: Final = 1000.0


@dataclass(frozen=True, slots=True)
class Count:
    """How many are in a state; ``parameter`` and its value lead to the list of them."""

    status: Status
    number: int
    parameter: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar that is 1000 wide."""

    tone: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class OverviewPage:
    """What the first page shows."""

    devices: int
    cards: int
    nodes: int
    nodes_stale: int
    held: int
    free: int
    drifted: int
    open_loads: int
    failed_loads: int
    health: tuple[Count, ...]
    health_bar: tuple[Segment, ...]
    states: tuple[Count, ...]
    loads: tuple[Count, ...]
    recent: tuple[LoadRow, ...]


def overview_page(found: Overview, now: datetime) -> OverviewPage:
    """The counts in the order of their urgency."""
    by_health = tuple(
        Count(HEALTH[status], found.devices_by_health.get(status, 0), "health")
        for status in WORST_FIRST
    )
    return OverviewPage(
        devices=found.devices,
        cards=found.cards,
        nodes=found.nodes,
        nodes_stale=found.nodes_stale,
        held=found.devices_held,
        free=max(0, found.devices - found.devices_held),
        drifted=found.devices_drifted,
        open_loads=sum(found.loads_by_state.get(state, 0) for state in OPEN_STATES),
        failed_loads=found.loads_by_state.get("failed", 0),
        health=by_health,
        health_bar=bar(by_health),
        states=_counts(REGION.values(), found.devices_by_state),
        loads=_counts(LOAD.values(), found.loads_by_state),
        recent=load_rows(found.recent_loads, now),
    )


def attention(
    devices: Iterable[Device], names: Mapping[str, str], now: datetime
) -> tuple[DeviceRow, ...]:
    """The worst devices first, as many as fit."""
    worst = ordered(list({(d.node, d.id): d for d in devices}.values()), "health")
    return tuple(row(device, names, now) for device in worst[:ATTENTION])


def bar(counts: Iterable[Count]) -> tuple[Segment, ...]:
    """The counts as parts of one bar, none of them too thin to be seen."""
    present = [count for count in counts if count.number]
    total = sum(count.number for count in present)
    widths = [max(12.0, BAR_WIDTH * count.number / total) for count in present]
    scale = BAR_WIDTH / sum(widths) if widths else 0.0
    start, parts = 0.0, []
    for count, width in zip(present, widths, strict=True):
        parts.append(Segment(count.status.tone, round(start, 1), round(width * scale, 1)))
        start += width * scale
    return tuple(parts)


def _counts(known: Iterable[Status], found: Mapping[str, int]) -> tuple[Count, ...]:
    return tuple(
        Count(status, found[status.value], "state") for status in known if found.get(status.value)
    )
