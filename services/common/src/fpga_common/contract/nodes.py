"""Nodes, devices and allocations of the REST API."""

from pydantic import Field

from fpga_common.contract.base import Answer, Request, Timestamp
from fpga_common.contract.inventory import FunctionDocument, VerdictDocument
from fpga_common.contract.report import NodeFacts, PoolReport
from fpga_common.domain.card import RegionState


class Node(Answer):
    """One node. ``stale`` when it has not reported for 90 s: its devices are then unknown."""

    name: str
    stale: bool
    last_seen_at: Timestamp | None
    facts: NodeFacts
    pools: list[PoolReport]
    cards: int
    devices: int
    devices_healthy: int
    devices_held: int


class AllocationRef(Answer):
    """Who holds a device."""

    namespace: str | None = None
    pod: str | None = None
    container: str | None = None
    source: str
    since: Timestamp


class LoadRef(Answer):
    """An open load of a device."""

    id: str
    state: str


class Device(Answer):
    """One device of the cluster: a region of a card.

    ``id`` is the device's id on its node; a device of the cluster is ``node`` and ``id`` together.
    ``health.status`` is ``unknown`` while the node is stale. ``drift``: the AFU is not the desired
    one.
    """

    node: str
    id: str
    card: str
    backend: str
    model: str
    vendor_device: str | None
    pci: FunctionDocument | None
    numa_node: int | None
    interface_id: str | None
    afu_id: str | None
    desired_afu_id: str | None = None
    desired_bitstream: str | None = None
    drift: bool = False
    state: RegionState
    reason: str
    cordoned: bool = False
    health: VerdictDocument
    device_nodes: list[str]
    sensors: dict[str, float] = Field(default_factory=dict)
    holder: AllocationRef | None = None
    load: LoadRef | None = None
    stale: bool
    last_seen_at: Timestamp | None


class Allocation(Answer):
    """A device that a pod, or a process outside Kubernetes, holds."""

    node: str
    device: str
    resource: str | None
    namespace: str | None
    pod: str | None
    container: str | None
    source: str
    since: Timestamp


class Reason(Request):
    """Why an administrator does something."""

    reason: str = ""
