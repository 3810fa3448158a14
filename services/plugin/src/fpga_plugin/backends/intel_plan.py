"""Which files of an Intel card are read: found once, used for every reading.

Depths and names vary with the driver's age, so that files are searched below the FME. The plan is
made anew when the card's tree changes, a planned file vanishes, or the plan is old.
"""

from dataclasses import dataclass
from posixpath import basename, dirname
from typing import Final

from fpga_plugin.backends.intel_layout import Layout
from fpga_plugin.backends.pci import slot_folders, virtual_folders
from fpga_plugin.backends.sensors import SensorPlan, plan_sensors
from fpga_plugin.host.failures import Unreadable
from fpga_plugin.host.root import HostRoot

SEARCH_DEPTH: Final = 10
"""Folders between FME and the deepest file wanted: an N3000's hwmon behind SPI has 8."""

PORTS: Final = 64
"""More than any card has; DFL's FME capability register has three bits for their number."""

_VERSION_FILES: Final = {"bmcfw_version": "bmc", "bmc_version": "bmc_hardware"}


@dataclass(frozen=True, slots=True)
class PortPlan:
    """One port: its hardware number, its folder and device node, its error register.

    ``afu_id`` need not exist: it appears with the first AFU that has the feature.
    """

    index: int
    folder: str
    node: str
    interface: str | None
    afu_id: str
    errors: str | None


@dataclass(frozen=True, slots=True)
class CardPlan:
    """Everything that a reading reads. Paths are the host's, resolved.

    ``pr_seen``: the FME has devices for partial reconfiguration, whether or not drivers took them.
    """

    functions: tuple[str, ...]
    virtual_functions: tuple[str, ...]
    fme: str | None
    ports: tuple[PortPlan, ...]
    port_count: int
    pr_seen: bool
    fatal_errors: tuple[str, ...]
    fme_errors: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]
    sensors: SensorPlan
    notes: tuple[str, ...]

    @property
    def control_nodes(self) -> tuple[str, ...]:
        """The node that programs the card."""
        return (f"/dev/{basename(self.fme)}",) if self.fme else ()


def make_plan(host: HostRoot, layout: Layout, folder: str, entries: tuple[str, ...]) -> CardPlan:
    """Search the card: ``folder`` is its first PCI function, ``entries`` its class entries."""
    functions = slot_folders(host, folder)
    fmes = _children(host, entries, layout.fme)
    fme = fmes[0] if fmes else None
    below = host.files_below(fme, depth=SEARCH_DEPTH) if fme else ()
    notes: list[str] = []
    ports = _ports(host, layout, entries, _interfaces(layout, below), notes)
    return CardPlan(
        functions=functions,
        virtual_functions=virtual_folders(host, functions),
        fme=fme,
        ports=ports,
        port_count=_port_count(host, fme, notes),
        pr_seen=_pr_seen(host, layout, fme),
        fatal_errors=_existing(fme, layout.fatal_errors, below),
        fme_errors=_existing(fme, layout.fme_errors, below),
        versions=_versions(fme, below),
        sensors=plan_sensors(host, below),
        notes=tuple(notes),
    )


def _children(host: HostRoot, entries: tuple[str, ...], prefix: str) -> tuple[str, ...]:
    return tuple(
        f"{entry}/{name}"
        for entry in entries
        for name in host.names(entry)
        if name.startswith(prefix) and host.is_folder(f"{entry}/{name}")
    )


def _interfaces(layout: Layout, below: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        path for path in below if path.endswith(layout.interface) and layout.nested_region in path
    )


def _ports(
    host: HostRoot,
    layout: Layout,
    entries: tuple[str, ...],
    interfaces: tuple[str, ...],
    notes: list[str],
) -> tuple[PortPlan, ...]:
    folders = _children(host, entries, layout.port)
    ports = []
    for order, folder in enumerate(folders):
        files = set(host.names(folder))
        ports.append(
            PortPlan(
                index=_port_index(host, folder, order, notes),
                folder=folder,
                node=f"/dev/{basename(folder)}",
                interface=interfaces[min(order, len(interfaces) - 1)] if interfaces else None,
                afu_id=f"{folder}/afu_id",
                errors=f"{folder}/errors/errors" if "errors" in files else None,
            )
        )
    return tuple(sorted(ports, key=lambda port: port.index))


def _port_index(host: HostRoot, folder: str, order: int, notes: list[str]) -> int:
    index = _small_number(host, f"{folder}/id", notes)
    return order if index is None else index


def _port_count(host: HostRoot, fme: str | None, notes: list[str]) -> int:
    return (_small_number(host, f"{fme}/ports_num", notes) or 0) if fme else 0


def _small_number(host: HostRoot, path: str, notes: list[str]) -> int | None:
    """A number of or for ports; None, and a note, where the file says anything else."""
    try:
        text = host.text(path)
        if text.isascii() and 0 <= int(text, 0) <= PORTS:
            return int(text, 0)
        notes.append(f"{path}: found {text[:20]!r}, expected 0 to {PORTS}")
    except Unreadable as error:
        notes.append(error.message)
    except ValueError:
        notes.append(f"{path}: not a number")
    return None


def _pr_seen(host: HostRoot, layout: Layout, fme: str | None) -> bool:
    names = host.names(fme) if fme else ()
    return any(name.startswith(layout.pr_devices) for name in names)


def _existing(fme: str | None, names: tuple[str, ...], below: tuple[str, ...]) -> tuple[str, ...]:
    there = set(below)
    return tuple(path for name in names if (path := f"{fme}/errors/{name}") in there)


def _versions(fme: str | None, below: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    shell = (("shell", f"{fme}/bitstream_id"),) if f"{fme}/bitstream_id" in set(below) else ()
    others = tuple(
        (_VERSION_FILES[basename(path)], path)
        for path in below
        if basename(path) in _VERSION_FILES and basename(dirname(path)) != "update"
    )
    return shell + others
