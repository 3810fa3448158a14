"""``/nodes``, ``/devices``, ``/allocations``."""

from typing import Final

from apiflask import APIBlueprint
from pydantic import Field, TypeAdapter
from sqlalchemy.orm import Session

from fpga_bitstream_manager.api.context import services
from fpga_bitstream_manager.api.guard import requires
from fpga_bitstream_manager.api.pagination import KeyNumber, PageQuery
from fpga_bitstream_manager.nodes.queries import DeviceFilter, NodeQueries, allocations
from fpga_common.contract.access import Role
from fpga_common.contract.base import Page, Uuid
from fpga_common.contract.nodes import Allocation, Device, Node
from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus

blueprint = APIBlueprint("nodes", __name__, tag="Nodes", url_prefix="/api/v1")

NODE_KEY: Final = TypeAdapter(tuple[str])
DEVICE_KEY: Final = TypeAdapter(tuple[str, str])
ALLOCATION_KEY: Final = TypeAdapter(tuple[str, str, KeyNumber])


class NodesQuery(PageQuery):
    """Filters of nodes."""

    stale: bool | None = Field(default=None, description="Not heard of for 90 s, or heard of.")


class DevicesQuery(PageQuery):
    """Filters of devices."""

    node: str | None = None
    health: HealthStatus | None = Field(
        default=None, description="As shown: the devices of a stale node are unknown."
    )
    state: RegionState | None = None
    model: str | None = None
    interface_id: Uuid | None = None
    afu_id: Uuid | None = None
    held: bool | None = Field(default=None, description="Whether anybody holds the device.")
    drift: bool | None = Field(default=None, description="Whether the AFU is not the desired one.")

    def filter(self) -> DeviceFilter:
        """The filter without paging."""
        return DeviceFilter(**self.model_dump(exclude={"limit", "cursor"}))


class AllocationsQuery(PageQuery):
    """Filters of allocations."""

    node: str | None = None
    namespace: str | None = None


@blueprint.get("/nodes")
@requires(Role.VIEWER)
@blueprint.input(NodesQuery, location="query")
@blueprint.output(Page[Node])
def list_nodes(query_data: NodesQuery) -> Page[Node]:
    """Nodes by name."""
    after = query_data.after(NODE_KEY)
    with services().ledger.reading() as session:
        found = _queries(session).nodes(
            after=after[0] if after else None, limit=query_data.limit + 1, stale=query_data.stale
        )
    return query_data.page(found, lambda node: [node.name])


@blueprint.get("/nodes/<node>")
@requires(Role.VIEWER)
@blueprint.output(Node)
def get_node(node: str) -> Node:
    """One node."""
    with services().ledger.reading() as session:
        return _queries(session).node(node)


@blueprint.get("/devices")
@requires(Role.VIEWER)
@blueprint.input(DevicesQuery, location="query")
@blueprint.output(Page[Device])
def list_devices(query_data: DevicesQuery) -> Page[Device]:
    """Devices by node and id."""
    with services().ledger.reading() as session:
        found = _queries(session).devices(
            query_data.filter(),
            after=query_data.after(DEVICE_KEY),
            limit=query_data.limit + 1,
        )
    return query_data.page(found, lambda device: [device.node, device.id])


@blueprint.get("/devices/<node>/<device>")
@requires(Role.VIEWER)
@blueprint.output(Device)
def get_device(node: str, device: str) -> Device:
    """One device."""
    with services().ledger.reading() as session:
        return _queries(session).device(node, device)


@blueprint.get("/allocations")
@requires(Role.VIEWER)
@blueprint.input(AllocationsQuery, location="query")
@blueprint.output(Page[Allocation])
def list_allocations(query_data: AllocationsQuery) -> Page[Allocation]:
    """Who holds which device."""
    with services().ledger.reading() as session:
        found = allocations(
            session,
            node=query_data.node,
            namespace=query_data.namespace,
            after=query_data.after(ALLOCATION_KEY),
            limit=query_data.limit + 1,
        )
    page = query_data.page(found, lambda item: item[0])
    return Page(items=[allocation for _, allocation in page.items], next_cursor=page.next_cursor)


def _queries(session: Session) -> NodeQueries:
    return NodeQueries(session, services().heartbeats, services().clock())
