"""What a container gets from its cached Allocate answers, pure but for the device node check."""

from collections.abc import Iterable
from pathlib import Path

from fpga_common.testing.kubelet.assignments import Assignment
from fpga_common.testing.kubelet.failures import ContainerNotStarted
from fpga_common.testing.kubelet.views import ContainerDevice, ContainerMount, ContainerView


def container_view(name: str, assignments: Iterable[Assignment]) -> ContainerView:
    """Merge the answers of all resources of a container: the first one with a key wins."""
    envs: dict[str, str] = {}
    annotations: dict[str, str] = {}
    devices: dict[str, ContainerDevice] = {}
    mounts: dict[str, ContainerMount] = {}
    cdi: dict[str, None] = {}
    ids: dict[str, tuple[str, ...]] = {}
    for entry in assignments:
        answer = entry.response
        ids[entry.resource] = tuple(entry.devices)
        envs = {**answer.envs, **envs}
        annotations = {**answer.annotations, **annotations}
        for spec in answer.devices:
            device = ContainerDevice(spec.container_path, spec.host_path, spec.permissions)
            devices.setdefault(spec.container_path, device)
        for each in answer.mounts:
            mount = ContainerMount(each.container_path, each.host_path, each.read_only)
            mounts.setdefault(each.container_path, mount)
        cdi.update(dict.fromkeys(device.name for device in answer.cdi_devices))
    return ContainerView(
        name=name,
        device_ids=tuple(device for group in ids.values() for device in group),
        device_ids_by_resource=ids,
        envs=envs,
        devices=tuple(devices.values()),
        mounts=tuple(mounts.values()),
        annotations=annotations,
        cdi=tuple(cdi),
    )


def require_device_nodes(view: ContainerView) -> None:
    """Refuse, as a container runtime does, a device that is no device node of the host.

    Raises:
        ContainerNotStarted: names the path.
    """
    for device in view.devices:
        path = Path(device.host_path)
        if not (path.is_char_device() or path.is_block_device() or path.is_dir()):
            raise ContainerNotStarted(
                "CreateContainerError",
                f"error gathering device information while adding custom device "
                f'"{device.host_path}": not a device node',
            )
