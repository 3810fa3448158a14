"""Which container of which pod was given which devices: the device manager's memory."""

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb


@dataclass(frozen=True, slots=True)
class Assignment:
    """Devices (id to NUMA node, -1 unknown) of one resource and the cached Allocate answer."""

    pod_uid: str
    container: str
    resource: str
    devices: dict[str, int]
    response: pb.ContainerAllocateResponse


class Assignments:
    """A table of assignments; not thread-safe, its owner locks."""

    def __init__(self, entries: Iterable[Assignment] = ()) -> None:
        self._table: dict[tuple[str, str, str], Assignment] = {}
        for entry in entries:
            self.insert(entry)

    def __iter__(self) -> Iterator[Assignment]:
        return iter(list(self._table.values()))

    def insert(self, entry: Assignment) -> None:
        """Remember an assignment in place of an earlier one of that container and resource."""
        self._table[entry.pod_uid, entry.container, entry.resource] = entry

    def find(self, pod_uid: str, container: str, resource: str) -> Assignment | None:
        """What a container holds of a resource."""
        return self._table.get((pod_uid, container, resource))

    def of_container(self, pod_uid: str, container: str) -> list[Assignment]:
        """Everything that a container holds, in the order it was allocated."""
        return [e for e in self if (e.pod_uid, e.container) == (pod_uid, container)]

    def in_use(self, resource: str) -> set[str]:
        """Ids of a resource that some container holds."""
        return {id_ for entry in self if entry.resource == resource for id_ in entry.devices}

    def resources(self) -> set[str]:
        """Resources of which anything is held."""
        return {entry.resource for entry in self}

    def keep_only(self, pod_uids: set[str]) -> bool:
        """Forget pods that are not in ``pod_uids``; True if there were any."""
        kept = {key: entry for key, entry in self._table.items() if entry.pod_uid in pod_uids}
        changed = len(kept) != len(self._table)
        self._table = kept
        return changed

    def copy(self) -> "Assignments":
        """The same entries, to look at without the owner's lock."""
        return Assignments(copy.copy(list(self)))
