"""Devices as rows: which are shown, in which order, and what each cell says."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fpga_common.contract.nodes import AllocationRef, Device
from fpga_common.domain.health import WORST_FIRST
from fpga_web.presenters import figures
from fpga_web.presenters.device_query import DeviceQuery
from fpga_web.presenters.moments import Moment, moment
from fpga_web.presenters.status import REGION, Status, health

ROWS_A_PAGE: Final = 100
TEMPERATURE: Final = "temperature_celsius"
_WITHOUT_NAME: Final = {
    False: ("a pod", "handed out; the kubelet does not name the pod yet"),
    True: ("a process outside Kubernetes", "it has the device open"),
}


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a device, in words."""

    label: str
    title: str
    since: Moment | None


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One line. ``seen`` is set only where what is shown is not current."""

    node: str
    id: str
    health: Status
    reason: str
    state: Status
    state_reason: str
    model: str
    vendor_device: str
    afu: str
    afu_id: str
    drift: bool
    holder: Holder | None
    load_id: str
    link: str
    link_degraded: bool
    numa: str
    temperature: str
    seen: Moment | None


@dataclass(frozen=True, slots=True)
class DevicePage:
    """The lines of one page and where it is among all that match."""

    rows: tuple[DeviceRow, ...]
    matching: int
    page: int
    pages: int


def device_page(
    devices: Iterable[Device], query: DeviceQuery, names: Mapping[str, str], now: datetime
) -> DevicePage:
    """Filter by text, sort, and cut out one page."""
    found = ordered(
        [device for device in devices if matches(device, query.text, names)], query.sort
    )
    pages = max(1, -(-len(found) // ROWS_A_PAGE))
    page = min(query.page, pages)
    shown = found[(page - 1) * ROWS_A_PAGE : page * ROWS_A_PAGE]
    return DevicePage(tuple(row(device, names, now) for device in shown), len(found), page, pages)


def matches(device: Device, text: str, names: Mapping[str, str]) -> bool:
    """Whether every word of ``text`` is somewhere in what the line shows."""
    shown = " ".join(_searched(device, names)).lower()
    return all(word in shown for word in text.lower().split())


def ordered(devices: Sequence[Device], sort: str) -> list[Device]:
    """The devices in an order; equal ones by node and id, whichever way round."""
    by_name = sorted(devices, key=lambda device: (device.node, device.id))
    return sorted(by_name, key=_KEYS[sort.removeprefix("-")], reverse=sort.startswith("-"))


def row(device: Device, names: Mapping[str, str], now: datetime) -> DeviceRow:
    """One line."""
    link = device.pci.link if device.pci else None
    return DeviceRow(
        node=device.node,
        id=device.id,
        health=health(device.health.status, stale=device.stale),
        reason=first_reason(device),
        state=REGION[device.state],
        state_reason=device.reason,
        model=device.model,
        vendor_device=device.vendor_device or "",
        afu=afu_name(device.afu_id, names),
        afu_id=device.afu_id or "",
        drift=device.drift,
        holder=holder(device.holder, now),
        load_id=device.load.id if device.load else "",
        link=figures.link(link) if link else "",
        link_degraded=bool(link and figures.degraded(link)),
        numa="" if device.numa_node is None else str(device.numa_node),
        temperature=temperature(device),
        seen=moment(device.last_seen_at, now) if device.stale else None,
    )


def afu_name(afu_id: str | None, names: Mapping[str, str]) -> str:
    """A bitstream's name for an AFU, else its first digits, empty for none."""
    return names.get(afu_id, figures.short(afu_id)) if afu_id else ""


def first_reason(device: Device) -> str:
    """Why it is not healthy, in one line."""
    if device.stale:
        return "the node stopped reporting"
    return device.health.reasons[0].message if device.health.reasons else ""


def holder(found: AllocationRef | None, now: datetime) -> Holder | None:
    """Who holds it: a pod, or something outside Kubernetes."""
    if found is None:
        return None
    since = moment(found.since, now)
    if found.pod is None:
        return Holder(*_WITHOUT_NAME[found.source == "open"], since)
    label = f"{found.namespace}/{found.pod}" if found.namespace else found.pod
    return Holder(label, f"container {found.container}" if found.container else "", since)


def temperature(device: Device) -> str:
    """The hottest sensor; empty where nothing current is known."""
    found = [value for name, value in device.sensors.items() if name.endswith(TEMPERATURE)]
    return f"{max(found):.0f} °C" if found and not device.stale else ""


def _searched(device: Device, names: Mapping[str, str]) -> Iterable[str]:
    yield from (device.node, device.id, device.model, device.vendor_device or "")
    yield from (device.afu_id or "", afu_name(device.afu_id, names), device.interface_id or "")
    if device.holder and device.holder.pod:
        yield f"{device.holder.namespace}/{device.holder.pod}"


def _severity(device: Device) -> int:
    return WORST_FIRST.index(device.health.status)


_KEYS: Final[dict[str, Callable[[Device], tuple[str | float, ...]]]] = {
    "health": lambda device: (_severity(device),),
    "device": lambda device: (device.id,),
    "node": lambda device: (device.node,),
    "model": lambda device: (device.model.lower(),),
    "afu": lambda device: (device.afu_id or "~",),
    "state": lambda device: (device.state.value,),
    "holder": lambda device: (device.holder.pod or "" if device.holder else "~",),
    "temperature": lambda device: (
        -max((v for n, v in device.sensors.items() if n.endswith(TEMPERATURE)), default=-1.0),
    ),
}
