"""Pods as the FakeKubelet knows them, apart from their devices."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

Limits = Mapping[str, int]


class Phase(StrEnum):
    """A pod's phase in its status."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"

    @property
    def active(self) -> bool:
        """Whether the pod still counts: an ended one is left out everywhere."""
        return self in (Phase.PENDING, Phase.RUNNING)


@dataclass(frozen=True, slots=True)
class InitContainer:
    """An init container; a restartable one (a sidecar) keeps its devices."""

    name: str
    limits: Limits = field(default_factory=dict)
    restartable: bool = False


@dataclass(frozen=True, slots=True)
class Container:
    """An ordinary container and how many devices of each resource it asks for."""

    name: str
    limits: Limits = field(default_factory=dict)


@dataclass(slots=True)
class Pod:
    """One pod that was sent to the node."""

    name: str
    namespace: str
    init_containers: tuple[InitContainer, ...]
    containers: tuple[Container, ...]
    uid: str = field(default_factory=lambda: str(uuid.uuid4()))
    phase: Phase = Phase.PENDING
    reason: str = ""
    message: str = ""

    @property
    def all_containers(self) -> tuple[InitContainer | Container, ...]:
        """Every container in the order in which the kubelet allocates for them."""
        return (*self.init_containers, *self.containers)

    def container(self, name: str) -> InitContainer | Container:
        """The container of that name. Raises KeyError."""
        return {container.name: container for container in self.all_containers}[name]

    def shown_containers(self) -> tuple[InitContainer | Container, ...]:
        """What PodResources shows: init containers only where they go on running."""
        sidecars = tuple(container for container in self.init_containers if container.restartable)
        return (*sidecars, *self.containers)


def make_pod(
    name: str,
    namespace: str,
    limits: Limits | None,
    containers: Mapping[str, Limits] | None,
    init_containers: Sequence[InitContainer],
) -> Pod:
    """A pod with the given containers, or with one called ``main`` that has ``limits``."""
    wanted = containers if containers is not None else {"main": limits or {}}
    return Pod(
        name=name,
        namespace=namespace,
        init_containers=tuple(init_containers),
        containers=tuple(Container(each, dict(wanted[each])) for each in wanted),
    )
