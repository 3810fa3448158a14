"""The file ``kubelet_internal_checkpoint``: what a restarted kubelet still knows."""

import base64
import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from google.protobuf.message import DecodeError

from fpga_common.testing.kubelet.assignments import Assignment
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb

CHECKPOINT_NAME: Final = "kubelet_internal_checkpoint"
_MODE: Final = 0o600


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Assignments, and the healthy ids of each known resource."""

    assignments: tuple[Assignment, ...] = ()
    resources: dict[str, list[str]] = field(default_factory=dict)


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Replace the file in one step, by way of a name that begins with a dot."""
    data = {
        "PodDeviceEntries": [_entry_document(entry) for entry in checkpoint.assignments],
        "RegisteredDevices": checkpoint.resources,
    }
    temporary = folder / f".{CHECKPOINT_NAME}"
    temporary.touch(mode=_MODE)
    temporary.write_text(json.dumps({"Data": data, "Checksum": _checksum(data)}), encoding="utf-8")
    temporary.replace(folder / CHECKPOINT_NAME)


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read the file; an absent or corrupt one gives an empty state, as with the kubelet."""
    try:
        document = json.loads((folder / CHECKPOINT_NAME).read_text(encoding="utf-8"))
        data = document["Data"]
        if document["Checksum"] != _checksum(data):
            return Checkpoint()
        entries = tuple(_entry(each) for each in data["PodDeviceEntries"])
        return Checkpoint(entries, dict(data["RegisteredDevices"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError, DecodeError):
        return Checkpoint()


def _entry_document(entry: Assignment) -> dict[str, Any]:
    by_node: dict[str, list[str]] = {}
    for device, node in entry.devices.items():
        by_node.setdefault(str(node), []).append(device)
    return {
        "PodUID": entry.pod_uid,
        "ContainerName": entry.container,
        "ResourceName": entry.resource,
        "DeviceIDs": by_node,
        "AllocResp": base64.b64encode(entry.response.SerializeToString()).decode(),
    }


def _entry(document: dict[str, Any]) -> Assignment:
    by_node: dict[str, list[str]] = document["DeviceIDs"]
    return Assignment(
        pod_uid=document["PodUID"],
        container=document["ContainerName"],
        resource=document["ResourceName"],
        devices={device: int(node) for node, devices in by_node.items() for device in devices},
        response=pb.ContainerAllocateResponse.FromString(base64.b64decode(document["AllocResp"])),
    )


def _checksum(data: dict[str, Any]) -> int:
    """A checksum of 32 bits over the compact JSON: the kubelet's kind, not its very number."""
    return zlib.crc32(json.dumps(data, sort_keys=True, separators=(",", ":")).encode())
