"""Bitstreams as rows, and which of them fit a device."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from fpga_common.contract.bitstreams import Bitstream
from fpga_common.contract.nodes import Device
from fpga_common.domain.bitstream import CheckOutcome
from fpga_web.presenters.figures import bitstream_name, short, size
from fpga_web.presenters.moments import Moment, moment


@dataclass(frozen=True, slots=True)
class BitstreamRow:
    """One line of the list. ``also`` are further names of the same content."""

    digest: str
    name: str
    version: str
    afu_id: str
    interface_id: str
    format: str
    size: str
    devices: int
    also: tuple[str, ...]
    uploaded_by: str
    uploaded: Moment | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A bitstream that can be chosen for a device."""

    digest: str
    label: str
    current: bool


@dataclass(frozen=True, slots=True)
class Unfit:
    """A bitstream that does not fit, and why not."""

    label: str
    reason: str


def rows(bitstreams: Iterable[Bitstream], now: datetime) -> tuple[BitstreamRow, ...]:
    """The lines of the list by name, the newest of a name first."""
    newest_first = sorted(bitstreams, key=lambda item: item.uploaded_at, reverse=True)
    return tuple(_row(item, now) for item in sorted(newest_first, key=lambda item: item.name))


def choices(bitstreams: Iterable[Bitstream], device: Device) -> tuple[Choice, ...]:
    """The bitstreams that fit, by name."""
    fitting = [item for item in bitstreams if why_not(item, device) is None]
    return tuple(
        Choice(
            item.digest,
            f"{bitstream_name(item)} · AFU {short(item.afu_id)}",
            item.afu_id is not None and item.afu_id == device.afu_id,
        )
        for item in sorted(fitting, key=bitstream_name)
    )


def unfit(bitstreams: Iterable[Bitstream], device: Device) -> tuple[Unfit, ...]:
    """The bitstreams that do not fit, by name."""
    found = ((item, why_not(item, device)) for item in sorted(bitstreams, key=bitstream_name))
    return tuple(Unfit(bitstream_name(item), reason) for item, reason in found if reason)


def why_not(bitstream: Bitstream, device: Device) -> str | None:
    """Why a bitstream cannot be loaded into a device, None when it fits."""
    if device.interface_id is None:
        return "the device's interface is not known"
    if bitstream.interface_id != device.interface_id:
        made_for = short(bitstream.interface_id) or "no interface"
        return f"made for interface {made_for}, the device has {short(device.interface_id)}"
    return None


def _row(item: Bitstream, now: datetime) -> BitstreamRow:
    return BitstreamRow(
        digest=item.digest,
        name=item.name,
        version=item.version or "",
        afu_id=item.afu_id or "",
        interface_id=item.interface_id or "",
        format=item.format.value.upper(),
        size=size(item.size_bytes),
        devices=item.devices,
        also=_other_names(item),
        uploaded_by=item.uploaded_by,
        uploaded=moment(item.uploaded_at, now),
        warnings=tuple(
            check.message for check in item.checks if check.outcome is not CheckOutcome.OK
        ),
    )


def _other_names(item: Bitstream) -> tuple[str, ...]:
    """Further names of the same content; the bare name of a version is none."""
    own = {item.name, bitstream_name(item)}
    return tuple(name for name in item.references if name not in own)
