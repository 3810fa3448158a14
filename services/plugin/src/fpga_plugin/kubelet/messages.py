"""Pool devices as messages of the device plugin protocol. Pure.

``permissions`` and paths: a container gets the user node for reading and writing, never ``m``, and
never a control node. A simulated node is no device, which no container runtime takes, so that its
container gets ``/dev/null`` under the node's own name.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from fpga_common.domain import names
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb
from fpga_plugin.pools import PoolDevice

HEALTHY: Final = "Healthy"
UNHEALTHY: Final = "Unhealthy"
PERMISSIONS: Final = "rw"
SIMULATED_NODE: Final = "/dev/null"

_NODE_SEPARATOR: Final = ":"


def list_message(devices: Iterable[PoolDevice]) -> pb.ListAndWatchResponse:
    """The full list, as every ListAndWatch message is."""
    return pb.ListAndWatchResponse(devices=[_listed(device) for device in devices])


def container_answer(
    devices: Sequence[PoolDevice], *, simulated: bool
) -> pb.ContainerAllocateResponse:
    """What a container with these devices gets: device nodes and environment."""
    specs = [
        pb.DeviceSpec(
            container_path=node,
            host_path=SIMULATED_NODE if simulated else node,
            permissions=PERMISSIONS,
        )
        for device in devices
        for node in device.device_nodes
    ]
    return pb.ContainerAllocateResponse(envs=environment(devices), devices=specs)


def environment(devices: Sequence[PoolDevice]) -> dict[str, str]:
    """One list a variable, comma-separated, all in the same order; unknown is an empty element.

    Several nodes of one device are separated by colons within its element.
    """

    def column(value: Callable[[PoolDevice], str | None]) -> str:
        return ",".join(value(device) or "" for device in devices)

    return {
        names.ENV_DEVICE_IDS: column(lambda device: device.id),
        names.ENV_PCI_ADDRESSES: column(_pci_address),
        names.ENV_DEVICE_NODES: column(lambda device: _NODE_SEPARATOR.join(device.device_nodes)),
        names.ENV_AFU_IDS: column(lambda device: device.region.afu_id),
        names.ENV_INTERFACE_IDS: column(lambda device: device.region.interface_id),
        names.ENV_NUMA_NODES: column(_numa_text),
    }


def _listed(device: PoolDevice) -> pb.Device:
    health = HEALTHY if device.healthy else UNHEALTHY
    if device.numa_node is None:
        return pb.Device(ID=device.id, health=health)
    topology = pb.TopologyInfo(nodes=[pb.NUMANode(ID=device.numa_node)])
    return pb.Device(ID=device.id, health=health, topology=topology)


def _numa_text(device: PoolDevice) -> str | None:
    return None if device.numa_node is None else str(device.numa_node)


def _pci_address(device: PoolDevice) -> str | None:
    return str(device.card.pci.address) if device.card.pci else None
