"""One device: identity, link, health reasons, AFU, and what a load would change."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fpga_common.contract.bitstreams import Bitstream
from fpga_common.contract.inventory import LinkDocument, ReasonDocument
from fpga_common.contract.nodes import Device
from fpga_common.domain.card import RegionState
from fpga_web.presenters import figures
from fpga_web.presenters.devices import DeviceRow, afu_name, holder, row
from fpga_web.presenters.moments import Moment, moment_of_epoch
from fpga_web.presenters.status import HEALTH, Status

_WHY_NOT_LOADABLE: Final[dict[RegionState, str]] = {
    RegionState.STATIC: "This device is static: it cannot be programmed.",
    RegionState.UNUSABLE: "This device is unusable.",
    RegionState.MISSING: "This device is missing from its node.",
}
_UNITS: Final = {"celsius": "°C", "watts": "W", "volts": "V", "amperes": "A", "hertz": "Hz"}


@dataclass(frozen=True, slots=True)
class Fact:
    """One named value; ``code`` for identifiers."""

    name: str
    value: str
    code: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReasonRow:
    """One reason for a health."""

    check: str
    status: Status
    message: str
    observed: str
    expected: str
    since: Moment | None


@dataclass(frozen=True, slots=True)
class DeviceDetail:
    """The page of one device."""

    row: DeviceRow
    since: Moment | None
    reasons: tuple[ReasonRow, ...]
    identity: tuple[Fact, ...]
    link: tuple[Fact, ...]
    afu: tuple[Fact, ...]
    sensors: tuple[Fact, ...]
    not_loadable: str


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What a load would change, before it is asked for."""

    node: str
    device: str
    bitstream: str
    digest: str
    current_afu: str
    current_afu_id: str
    new_afu: str
    new_afu_id: str
    same: bool
    holder: str
    consequence: str


def detail(device: Device, names: Mapping[str, str], now: datetime) -> DeviceDetail:
    """Everything the page shows."""
    return DeviceDetail(
        row=row(device, names, now),
        since=moment_of_epoch(device.health.since, now),
        reasons=tuple(_reason(reason, now) for reason in device.health.reasons),
        identity=_identity(device),
        link=_link(device.pci.link) if device.pci else (),
        afu=_afu(device, names),
        sensors=() if device.stale else _sensors(device.sensors),
        not_loadable=why_not_loadable(device),
    )


def why_not_loadable(device: Device) -> str:
    """Why nothing can be loaded into it now, empty when a load can be asked for."""
    if device.state in _WHY_NOT_LOADABLE:
        reason = f" {device.reason}" if device.reason else ""
        return _WHY_NOT_LOADABLE[device.state] + reason
    if device.interface_id is None:
        return "The device's interface id is not known, so no bitstream can be matched to it."
    return ""


def confirmation(
    device: Device, bitstream: Bitstream, names: Mapping[str, str], now: datetime, *, waits: bool
) -> Confirmation:
    """What is named before a load is asked for."""
    held = holder(device.holder, now)
    holder_words = held.label if held else ""
    return Confirmation(
        node=device.node,
        device=device.id,
        bitstream=figures.bitstream_name(bitstream),
        digest=bitstream.digest,
        current_afu=afu_name(device.afu_id, names),
        current_afu_id=device.afu_id or "",
        new_afu=bitstream.afu_name or bitstream.name,
        new_afu_id=bitstream.afu_id or "",
        same=bitstream.afu_id is not None and bitstream.afu_id == device.afu_id,
        holder=holder_words,
        consequence=figures.sentence(_consequence(device, holder_words, waits=waits)),
    )


def _consequence(device: Device, holder: str, *, waits: bool) -> str:
    if device.stale:
        return "The node is not reporting. The load waits until it does, or until its deadline."
    if holder and waits:
        return f"{holder} holds the device. The load waits until it is free; nothing is taken away."
    if holder:
        return f"{holder} holds the device. The load will fail unless it is free by then."
    return "Nobody holds the device. It is taken from the kubelet while it is being written."


def _reason(reason: ReasonDocument, now: datetime) -> ReasonRow:
    status = next(
        s for s in HEALTH.values() if s.tone == ("bad" if reason.severity == "fatal" else "warn")
    )
    return ReasonRow(
        reason.check,
        status,
        reason.message,
        reason.observed or "",
        reason.expected or "",
        moment_of_epoch(reason.since, now),
    )


def _identity(device: Device) -> tuple[Fact, ...]:
    pci = device.pci
    found = (
        Fact("Device", device.id, code=True),
        Fact("Card", device.card, code=True),
        Fact("Model", device.model),
        Fact("PCI id", device.vendor_device or "", code=True),
        Fact("Driver", (pci.driver if pci else None) or ""),
        Fact("Back end", device.backend),
        Fact(
            "NUMA node",
            "not said by the machine" if device.numa_node is None else str(device.numa_node),
        ),
        Fact("Interface", device.interface_id or "", code=True),
        Fact("Device nodes", " ".join(device.device_nodes), code=True),
    )
    return tuple(fact for fact in found if fact.value)


def _link(link: LinkDocument) -> tuple[Fact, ...]:
    now, best = figures.link(link), figures.best_link(link)
    note = "slower than it could be" if figures.degraded(link) else ""
    found = (Fact("Now", now, note=note), Fact("At best", best))
    return tuple(fact for fact in found if fact.value)


def _afu(device: Device, names: Mapping[str, str]) -> tuple[Fact, ...]:
    wanted = device.desired_bitstream or afu_name(device.desired_afu_id, names)
    return (
        Fact("Loaded", afu_name(device.afu_id, names) or "none, or not readable"),
        Fact("AFU id", device.afu_id or "—", code=True),
        Fact("Desired", wanted or "nothing in particular", note="drift" if device.drift else ""),
    )


def _sensors(sensors: Mapping[str, float]) -> tuple[Fact, ...]:
    return tuple(_sensor(name, value) for name, value in sorted(sensors.items()))


def _sensor(name: str, value: float) -> Fact:
    words, _, unit = name.rpartition("_")
    if unit not in _UNITS:
        return Fact(name.replace("_", " ").capitalize(), f"{value:g}")
    return Fact(words.replace("_", " ").capitalize(), f"{value:.1f} {_UNITS[unit]}")
