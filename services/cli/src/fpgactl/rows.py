"""Table rows and fields of the platform's things, without I/O."""

from collections.abc import Iterable
from datetime import UTC, datetime

from fpga_common.contract.bitstreams import Bitstream
from fpga_common.contract.loads import Load, LoadDetail, LoadEvent
from fpga_common.contract.nodes import AllocationRef, Device, Node

Row = tuple[str, ...]
Fields = list[tuple[str, str]]
SHORT_UUID = 12
KIB = 1024
SHORT_DIGEST = len("sha256:") + 12
NONE = "-"

NODE_HEADINGS = ("NODE", "STATE", "CARDS", "DEVICES", "HEALTHY", "HELD", "SEEN", "PLUGIN")
DEVICE_HEADINGS = ("NODE", "DEVICE", "MODEL", "STATE", "HEALTH", "AFU", "HELD BY")
BITSTREAM_HEADINGS = ("NAME", "VERSION", "AFU", "INTERFACE", "SIZE", "DEVICES", "DIGEST")
LOAD_HEADINGS = ("ID", "STATE", "BITSTREAM", "TARGET", "AGE")
HISTORY_HEADINGS = ("AT", "STATE", "ATTEMPT", "ACTOR", "MESSAGE")


def node_row(node: Node, now: datetime) -> Row:
    """A node's line."""
    return (
        node.name,
        "stale" if node.stale else "ready",
        str(node.cards),
        str(node.devices),
        str(node.devices_healthy),
        str(node.devices_held),
        _age(node.last_seen_at, now),
        node.facts.plugin_version or NONE,
    )


def device_row(device: Device) -> Row:
    """A device's line; the AFU shortened to 12 digits."""
    return (
        device.node,
        device.id,
        device.model,
        device.state.value,
        device.health.status.value,
        _short(device.afu_id),
        _holder(device.holder),
    )


def bitstream_row(bitstream: Bitstream) -> Row:
    """A bitstream's line."""
    return (
        bitstream.name,
        bitstream.version or NONE,
        _short(bitstream.afu_id),
        _short(bitstream.interface_id),
        size_text(bitstream.size_bytes),
        str(bitstream.devices),
        bitstream.digest[:SHORT_DIGEST],
    )


def bitstream_fields(bitstream: Bitstream) -> Fields:
    """Everything a person wants to know of a stored bitstream."""
    return [
        ("name", bitstream.name),
        ("version", bitstream.version or NONE),
        ("digest", bitstream.digest),
        ("size", size_text(bitstream.size_bytes)),
        ("interface", bitstream.interface_id or NONE),
        ("AFU", bitstream.afu_id or NONE),
        ("uploaded by", bitstream.uploaded_by),
    ]


def load_row(load: Load, now: datetime) -> Row:
    """A load's line."""
    return (
        load.id,
        load.state.value,
        _named(load),
        f"{load.target.node}/{load.target.device}",
        _age(load.created_at, now),
    )


def load_fields(load: Load) -> Fields:
    """A load as a person reads it."""
    fields = [
        ("load", load.id),
        ("state", load.state.value),
        ("bitstream", f"{_named(load)} {load.bitstream.digest}"),
        ("target", f"{load.target.node}/{load.target.device}"),
        ("requested by", load.requested_by),
        ("priority", load.priority.value),
        ("attempt", str(load.attempt)),
        ("progress", f"{percent(load):.0f} % {load.progress.message}"),
        ("seconds", NONE if load.seconds is None else f"{load.seconds:.1f}"),
        ("AFU", load.afu_id or NONE),
    ]
    return fields + _error_fields(load)


def history_rows(load: LoadDetail) -> list[Row]:
    """A load's history, oldest first."""
    return [_event_row(event) for event in load.history]


def percent(load: Load) -> float:
    """Progress between 0 and 100, whatever the node reported."""
    return min(100.0, max(0.0, load.progress.percent))


def size_text(size: int) -> str:
    """A size in bytes for people: ``426 B``, ``64.0 KiB``, ``8.2 MiB``."""
    if size < KIB:
        return f"{size} B"
    if size < KIB**2:
        return f"{size / KIB:.1f} KiB"
    if size < KIB**3:
        return f"{size / KIB**2:.1f} MiB"
    return f"{size / KIB**3:.1f} GiB"


def sorted_devices(devices: Iterable[Device]) -> list[Device]:
    """Devices by node, then id."""
    return sorted(devices, key=lambda device: (device.node, device.id))


def _error_fields(load: Load) -> Fields:
    if load.error is None:
        return []
    fields = [("error", f"{load.error.message} ({load.error.code})")]
    if load.error.expected is not None or load.error.actual is not None:
        fields += [
            ("expected", load.error.expected or NONE),
            ("actual", load.error.actual or NONE),
        ]
    return fields


def _event_row(event: LoadEvent) -> Row:
    at = event.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return at, event.state.value, str(event.attempt), event.actor, event.message


def _named(load: Load) -> str:
    bitstream = load.bitstream
    return f"{bitstream.name}@{bitstream.version}" if bitstream.version else bitstream.name


def _holder(holder: AllocationRef | None) -> str:
    if holder is None:
        return NONE
    if holder.pod is None:
        return "(not a pod)" if holder.source == "open" else "(unnamed pod)"
    return f"{holder.namespace or 'default'}/{holder.pod}"


def _short(uuid: str | None) -> str:
    return uuid[:SHORT_UUID] if uuid else NONE


def _age(at: datetime | None, now: datetime) -> str:
    """How long ago, in the largest fitting unit: ``12s``, ``5m``, ``3h``, ``9d``."""
    if at is None:
        return NONE
    seconds = max(0, int((now - at).total_seconds()))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
