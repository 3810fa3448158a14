"""What reports and metrics show of a node, put together from the plugin's parts. Pure mappings.

``serve`` binds these to the running parts.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from fpga_common.domain.card import Card
from fpga_plugin.agent.ports import DeviceHolder
from fpga_plugin.metrics import MetricsView
from fpga_plugin.report.document import Document, NodeState, drivers_of, timestamp


class HolderView(DeviceHolder, Protocol):
    """A holder with everything that ``fpga_common.contract.report.Holder`` tells."""

    @property
    def device(self) -> str:
        """The device's id."""
        ...

    @property
    def resource(self) -> str | None:
        """The extended resource."""
        ...

    @property
    def since(self) -> float:
        """Seconds since the epoch."""
        ...


def holder_document(holder: HolderView) -> Document:
    """A holder as the report carries it."""
    return {
        "device": holder.device,
        "source": holder.source,
        "namespace": holder.namespace,
        "pod": holder.pod,
        "container": holder.container,
        "resource": holder.resource,
        "since": timestamp(holder.since),
    }


def node_state(
    node: str,
    cards: tuple[Card, ...],
    holders: Iterable[HolderView],
    pools: Sequence[Document],
    facts: Document,
    agent: Document | None,
) -> NodeState:
    """What a report tells."""
    return NodeState(
        node=node,
        cards=cards,
        holders=tuple(
            sorted((holder_document(holder) for holder in holders), key=lambda h: str(h["device"]))
        ),
        pools=tuple(pools),
        facts={**facts, "drivers": list(drivers_of(cards))},
        agent=agent,
    )


def metrics_view(
    cards: tuple[Card, ...], holders: Iterable[HolderView], pools: Sequence[dict[str, Any]]
) -> MetricsView:
    """What a scrape shows."""
    return MetricsView(
        cards=cards,
        held=frozenset(holder.device for holder in holders),
        registered={pool["resource"]: bool(pool["registered"]) for pool in pools},
    )
