"""Documents of the REST API as tests of its clients need them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from fpga_common.contract.bitstreams import Bitstream
from fpga_common.contract.inventory import VerdictDocument
from fpga_common.contract.loads import Load, LoadBitstream, LoadError, LoadProgress, LoadTarget
from fpga_common.contract.nodes import AllocationRef, Device, Node
from fpga_common.contract.problem import Problem
from fpga_common.contract.report import NodeFacts
from fpga_common.domain.bitstream import BitstreamFormat
from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus
from fpga_common.domain.load import IfBusy, LoadState, Priority
from fpga_common.domain.operation import Phase

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DIGEST = "sha256:" + "ab" * 32
INTERFACE = "f64e598bea11517fa28e7bc65d885104"
AFU = "d8424dc4a4a3c413f89e433683f9040b"
LOAD_ID = "0198a5d2-7c4e-7a31-9a55-3f2d8c1b6e90"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a load's way."""

    state: LoadState
    phase: Phase | None = None
    percent: float = 0.0
    message: str = ""
    error: LoadError | None = None


QUEUED = Step(LoadState.QUEUED)
SUCCEEDS = (
    Step(LoadState.CLAIMED, Phase.ACCEPTED),
    Step(LoadState.PROGRAMMING, Phase.PROGRAMMING, 40.0),
    Step(LoadState.VERIFYING, Phase.VERIFYING, 90.0),
    Step(LoadState.SUCCEEDED, Phase.DONE, 100.0),
)


def a_load(step: Step = QUEUED, **changes: Any) -> Load:
    """A load in the state of ``step``."""
    values: dict[str, Any] = {
        "id": LOAD_ID,
        "state": step.state,
        "bitstream": LoadBitstream(digest=DIGEST, name="checksum", version="1.0", afu_id=AFU),
        "target": LoadTarget(node="sim-a", device="0000:3b:00.0-r0"),
        "requested_by": "alice",
        "priority": Priority.NORMAL,
        "if_busy": IfBusy.WAIT,
        "persist": True,
        "force": False,
        "created_at": NOW,
        "deadline_at": NOW + timedelta(hours=1),
        "seconds": 1.2 if step.state.ended else None,
        "attempt": 1,
        "progress": LoadProgress(phase=step.phase, percent=step.percent, message=step.message),
        "afu_id": AFU if step.state is LoadState.SUCCEEDED else None,
        "error": step.error,
    }
    return Load(**(values | changes))


def a_device(node: str, device: str, **changes: Any) -> Device:
    """A healthy, free device."""
    values: dict[str, Any] = {
        "node": node,
        "id": device,
        "card": device.removesuffix("-r0"),
        "backend": "dfl",
        "model": "Intel PAC Arria 10 GX",
        "vendor_device": "8086:09c4",
        "pci": None,
        "numa_node": 0,
        "interface_id": INTERFACE,
        "afu_id": AFU,
        "state": RegionState.READY,
        "reason": "",
        "health": VerdictDocument(status=HealthStatus.HEALTHY, since=0.0),
        "device_nodes": ["/dev/dfl-port.0"],
        "stale": False,
        "last_seen_at": NOW,
    }
    return Device(**(values | changes))


def a_node(name: str, **changes: Any) -> Node:
    """A node that has just reported two cards."""
    values: dict[str, Any] = {
        "name": name,
        "stale": False,
        "last_seen_at": NOW,
        "facts": NodeFacts(plugin_version="0.1.0"),
        "pools": [],
        "cards": 2,
        "devices": 2,
        "devices_healthy": 2,
        "devices_held": 1,
    }
    return Node(**(values | changes))


def a_bitstream(name: str, **changes: Any) -> Bitstream:
    """A stored bitstream."""
    values: dict[str, Any] = {
        "digest": DIGEST,
        "name": name,
        "format": BitstreamFormat.GBS,
        "size_bytes": 66000,
        "payload_size_bytes": 65536,
        "interface_id": INTERFACE,
        "afu_id": AFU,
        "uploaded_by": "alice",
        "uploaded_at": NOW,
    }
    return Bitstream(**(values | changes))


def a_holder(pod: str) -> AllocationRef:
    """A pod that holds a device."""
    return AllocationRef(namespace="default", pod=pod, source="podresources", since=NOW)


def a_problem(code: str, status: int, detail: str, **changes: Any) -> Problem:
    """A refusal."""
    return Problem(
        type=f"/problems/{code}", title=code, status=status, detail=detail, code=code, **changes
    )
