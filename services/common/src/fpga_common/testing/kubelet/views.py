"""What the FakeKubelet shows to its user: resources of the node, and what a container sees."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DeviceView:
    """A device as the plugin last listed it; ``numa_nodes`` empty where it named none."""

    health: str
    numa_nodes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceView:
    """One extended resource in the node's status, and its devices by id."""

    capacity: int
    allocatable: int
    devices: dict[str, DeviceView] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ContainerDevice:
    """A device node of a container. ``permissions`` is made of ``r``, ``w`` and ``m``."""

    container_path: str
    host_path: str
    permissions: str


@dataclass(frozen=True, slots=True)
class ContainerMount:
    """A folder or file of the host inside a container."""

    container_path: str
    host_path: str
    read_only: bool


@dataclass(frozen=True, slots=True)
class ContainerView:
    """What the device plugins of one container gave it. ``cdi`` holds CDI device names."""

    name: str
    device_ids: tuple[str, ...] = ()
    device_ids_by_resource: dict[str, tuple[str, ...]] = field(default_factory=dict)
    envs: dict[str, str] = field(default_factory=dict)
    devices: tuple[ContainerDevice, ...] = ()
    mounts: tuple[ContainerMount, ...] = ()
    annotations: dict[str, str] = field(default_factory=dict)
    cdi: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunningPod:
    """A pod whose containers run; init containers that ended are listed too."""

    name: str
    namespace: str
    uid: str
    containers: dict[str, ContainerView]
