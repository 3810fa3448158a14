"""Cards as values, for tests of the node plugin that need no tree of files."""

from fpga_common.domain.card import Card, PciFunction, Region, RegionState
from fpga_common.domain.health import HealthStatus, Verdict
from fpga_common.domain.ids import PciAddress, region_id

INTERFACE_ID = "f64e598bea11517fa28e7bc65d885104"
AFU_ID = "d8424dc4a4a3c413f89e433683f9040b"


def make_card(
    bus: int,
    *,
    regions: int = 1,
    numa_node: int | None = 0,
    state: RegionState = RegionState.READY,
    reason: str = "",
    health: HealthStatus = HealthStatus.HEALTHY,
    verdict: Verdict | None = None,
    nodes: tuple[str, ...] | None = None,
    afu_id: str | None = AFU_ID,
) -> Card:
    """A card in PCI slot ``0000:<bus>:00`` whose regions are all in one state."""
    address = PciAddress(0, bus, 0, 0)
    verdict = verdict or Verdict(health, 0.0)
    return Card(
        id=str(address),
        backend="dfl",
        model="test card",
        functions=(PciFunction(address, "8086", "0b30", numa_node=numa_node),),
        regions=tuple(
            Region(
                id=region_id(str(address), index),
                index=index,
                state=state,
                reason=reason,
                interface_id=INTERFACE_ID,
                afu_id=afu_id,
                device_nodes=(f"/dev/dfl-port.{bus + 100 * index}",) if nodes is None else nodes,
                health=verdict,
            )
            for index in range(regions)
        ),
        health=verdict,
    )
