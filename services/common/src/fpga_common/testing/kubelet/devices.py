"""The devices of one resource as the device manager keeps them: two sets kept apart."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from fpga_common.testing.kubelet.views import DeviceView
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb

HEALTHY: Final = "Healthy"
UNHEALTHY: Final = "Unhealthy"


@dataclass(slots=True)
class DeviceSets:
    """Healthy and unhealthy devices by id. An id listed with both healths is in both sets."""

    healthy: dict[str, DeviceView] = field(default_factory=dict)
    unhealthy: dict[str, DeviceView] = field(default_factory=dict)

    @classmethod
    def listed(cls, devices: Iterable[pb.Device]) -> "DeviceSets":
        """The sets that a ListAndWatch message stands for; health compares exactly."""
        sets = cls()
        for device in devices:
            view = DeviceView(device.health, tuple(node.ID for node in device.topology.nodes))
            target = sets.healthy if device.health == HEALTHY else sets.unhealthy
            target[device.ID] = view
        return sets

    def all_unhealthy(self) -> "DeviceSets":
        """The same devices after their plugin has gone."""
        lost = {id_: DeviceView(UNHEALTHY, view.numa_nodes) for id_, view in self.healthy.items()}
        return DeviceSets({}, {**self.unhealthy, **lost})

    @property
    def capacity(self) -> int:
        """What the node status shows as capacity."""
        return len(self.healthy) + len(self.unhealthy)

    def numa_node(self, device_id: str) -> int:
        """The first NUMA node of a device, -1 where the plugin named none."""
        view = self.healthy.get(device_id) or self.unhealthy.get(device_id)
        return view.numa_nodes[0] if view and view.numa_nodes else -1
