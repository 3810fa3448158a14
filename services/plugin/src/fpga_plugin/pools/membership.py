"""Pool membership: a snapshot of the inventory in, the devices of one pool out. Pure.

Called by ``kubelet.pool_state``. It must not know how a region came into its state.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fpga_common.domain.card import Card, Region, RegionState
from fpga_plugin.inventory.snapshot import Snapshot
from fpga_plugin.settings import PoolSettings

OFFERED: Final = frozenset(
    {RegionState.READY, RegionState.STATIC, RegionState.RESERVED, RegionState.QUARANTINED}
)
"""States in which the kubelet is told of a region at all."""

ALLOCATABLE: Final = frozenset({RegionState.READY, RegionState.STATIC})
"""States in which it may be handed out, if its health allows."""


@dataclass(frozen=True, slots=True)
class PoolDevice:
    """A device as the kubelet gets to see it. ``device_nodes`` are the host's paths."""

    id: str
    healthy: bool
    numa_node: int | None
    device_nodes: tuple[str, ...]
    card: Card
    region: Region

    @property
    def why_unhealthy(self) -> str:
        """In words what keeps the device from being handed out; empty where nothing does."""
        if self.healthy:
            return ""
        if self.region.state not in ALLOCATABLE:
            reason = f": {self.region.reason}" if self.region.reason else ""
            return f"{self.region.state.value}{reason}"
        messages = "; ".join(reason.message for reason in self.region.health.reasons)
        return messages or self.region.health.status.value


def members(
    pool: PoolSettings, snapshot: Snapshot, earlier: Sequence[PoolSettings] = ()
) -> tuple[PoolDevice, ...]:
    """The devices of a pool, sorted by id, without those of the pools configured ``earlier``.

    So a region is in one resource at a time.
    """
    del pool  # a pool of regions has all of them; selectors would look here
    taken = {
        device.id
        for index, each in enumerate(earlier)
        for device in members(each, snapshot, earlier[:index])
    }
    devices = (
        _device(card, region)
        for card in snapshot.cards
        for region in card.regions
        if region.state in OFFERED and region.id not in taken
    )
    return tuple(sorted(devices, key=lambda device: device.id))


def _device(card: Card, region: Region) -> PoolDevice:
    return PoolDevice(
        id=region.id,
        healthy=region.state in ALLOCATABLE and region.health.allocatable,
        numa_node=_known_node(card.numa_node),
        device_nodes=region.device_nodes,
        card=card,
        region=region,
    )


def _known_node(node: int | None) -> int | None:
    """Linux says -1 for unknown, which would confuse the topology manager (k/k #112234)."""
    return node if node is not None and node >= 0 else None
