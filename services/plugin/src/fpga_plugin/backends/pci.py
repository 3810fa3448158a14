"""PCI functions in sysfs: which belong together, and what each says.

Every PCI backend uses it. Source: Linux Documentation/ABI/testing/sysfs-bus-pci and
drivers/pci/pci-sysfs.c (formats), drivers/pci/probe.c (link speed's text).
"""

import re
import struct
from collections.abc import Sequence
from posixpath import basename, dirname
from typing import Final

from fpga_common.domain.card import PciFunction, PciLink
from fpga_common.domain.ids import InvalidId, PciAddress
from fpga_plugin.health.checks import CheckName
from fpga_plugin.health.observation import Observation, Outcome
from fpga_plugin.host.failures import Missing, Unreadable
from fpga_plugin.host.root import HostRoot

PCI_DEVICES: Final = "/sys/bus/pci/devices"

NUMA_NODES: Final = 1024
"""Linux numbers fewer (MAX_NUMNODES); anything else is no node's number."""

_LEADING_NUMBER: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_HEX: Final = re.compile(r"(0x)?([0-9a-f]{1,8})")
_ALL_ONES: Final = (0xFFFF, 0xFFFF)


def address_in(folder: str) -> PciAddress | None:
    """The PCI address that a folder is named after."""
    try:
        return PciAddress.parse(basename(folder))
    except InvalidId:
        return None


def function_folder(path: str) -> str | None:
    """The nearest PCI function at or above a resolved sysfs path."""
    while path not in ("", "/"):
        if address_in(path) is not None:
            return path
        path = dirname(path)
    return None


def physical_folder(host: HostRoot, folder: str) -> str:
    """The physical function of a virtual one; any other function itself."""
    if host.link(f"{folder}/physfn") is None:
        return folder
    return host.resolve(f"{folder}/physfn")


def slot_folders(host: HostRoot, folder: str) -> tuple[str, ...]:
    """The physical functions in the slot of ``folder``, lowest address first."""
    address = address_in(folder)
    parent = dirname(folder)
    siblings = [f"{parent}/{name}" for name in host.names(parent)]
    return tuple(
        sibling
        for sibling in siblings
        if (other := address_in(sibling)) is not None
        and address is not None
        and other.slot == address.slot
        and host.link(f"{sibling}/physfn") is None
    )


def virtual_folders(host: HostRoot, functions: Sequence[str]) -> tuple[str, ...]:
    """The virtual functions of physical ones, in the order of their numbers."""
    links = [
        f"{folder}/{name}"
        for folder in functions
        for name in sorted(host.names(folder), key=len)
        if name.startswith("virtfn")
    ]
    return tuple(host.resolve(link) for link in links)


def read_function(host: HostRoot, folder: str) -> PciFunction:
    """Everything one function says; what cannot be read is None, ids then ``????``."""
    return PciFunction(
        address=PciAddress.parse(basename(folder)),
        vendor=_hex(host, f"{folder}/vendor") or "????",
        device=_hex(host, f"{folder}/device") or "????",
        subsystem_vendor=_hex(host, f"{folder}/subsystem_vendor"),
        subsystem_device=_hex(host, f"{folder}/subsystem_device"),
        pci_class=_hex(host, f"{folder}/class"),
        driver=read_driver(host, folder),
        numa_node=_numa_node(host, folder),
        link=read_link(host, folder),
        physical_function=_physical_function(host, folder),
    )


def read_driver(host: HostRoot, folder: str) -> str | None:
    """The bound driver: the link's target, in copied trees without links what uevent says."""
    target = host.link(f"{folder}/driver")
    if target is not None:
        return basename(target) if basename(target) not in ("", ".") else None
    if host.complete:
        return None
    lines = (_text(host, f"{folder}/uevent") or "").splitlines()
    return next((line[7:] for line in lines if line.startswith("DRIVER=")), None)


def read_link(host: HostRoot, folder: str) -> PciLink:
    """Speeds in GT/s, widths in lanes."""
    width, max_width = (
        _number(host, f"{folder}/{name}") for name in ("current_link_width", "max_link_width")
    )
    return PciLink(
        current_speed=_number(host, f"{folder}/current_link_speed"),
        max_speed=_number(host, f"{folder}/max_link_speed"),
        current_width=None if width is None else int(width),
        max_width=None if max_width is None else int(max_width),
    )


def observe_driver(host: HostRoot, function: PciFunction) -> tuple[Observation, ...]:
    """Whether a driver is bound. In a copied tree the card's class entry stands for it."""
    if function.driver is None and host.complete:
        message = f"no driver is bound to {function.address}"
        return (Observation(CheckName.DRIVER.value, Outcome.FAILED, message, "none"),)
    return (Observation(CheckName.DRIVER.value, Outcome.OK),)


def observe_config_space(host: HostRoot, folder: str) -> tuple[Observation, ...]:
    """Whether the device still answers on the bus. Copied trees may lack ``config``."""
    check = CheckName.CONFIG_SPACE.value
    try:
        head = host.content(f"{folder}/config", 4)
    except Missing as error:
        if not host.complete:
            return ()
        return (Observation(check, Outcome.UNREADABLE, error.message),)
    except Unreadable as error:
        return (Observation(check, Outcome.UNREADABLE, error.message),)
    if len(head) < 4:
        message = f"{folder}/config: only {len(head)} bytes can be read"
        return (Observation(check, Outcome.UNREADABLE, message),)
    ids: tuple[int, int] = struct.unpack("<HH", head)
    if ids == _ALL_ONES:
        message = "the card does not answer on the PCI bus"
        return (Observation(check, Outcome.FAILED, message, "ffff:ffff"),)
    return (Observation(check, Outcome.OK),)


def _text(host: HostRoot, path: str) -> str | None:
    try:
        return host.text(path)
    except Unreadable:
        return None


def _hex(host: HostRoot, path: str) -> str | None:
    match = _HEX.fullmatch((_text(host, path) or "").lower())
    return match[2] if match else None


def _number(host: HostRoot, path: str) -> float | None:
    match = _LEADING_NUMBER.match(_text(host, path) or "")
    return float(match[0]) if match else None


def _numa_node(host: HostRoot, folder: str) -> int | None:
    number = _number(host, f"{folder}/numa_node")
    return int(number) if number is not None and number < NUMA_NODES else None


def _physical_function(host: HostRoot, folder: str) -> PciAddress | None:
    physical = physical_folder(host, folder)
    return None if physical == folder else address_in(physical)
