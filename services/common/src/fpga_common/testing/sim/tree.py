"""What a card shows in ``/sys`` and ``/dev``: from placement to files and links, without I/O.

Source of the layout: Linux ``Documentation/fpga/dfl.rst`` and captures of real cards. The region
that takes AFUs also has a top-level class entry of its own, which readers must not count as a card.
"""

import posixpath
from dataclasses import dataclass, field

from fpga_common.domain.errors import Permanent
from fpga_common.testing.sim.pci import function_files
from fpga_common.testing.sim.placement import Placement
from fpga_common.testing.sim.profiles import CardProfile, FunctionProfile
from fpga_common.testing.sim.sensors import HwmonProfile

PAGE = 4096


class NoSuchAttribute(Permanent):
    """The card does not have that attribute."""

    code = "no_such_attribute"


@dataclass(slots=True)
class Tree:
    """Files with their bytes and links with their targets' text; paths are below the host root."""

    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def add(self, folder: str, attributes: dict[str, str]) -> None:
        """Add text attributes, each ended by a newline."""
        self.files |= {
            f"{folder}/{name}": f"{text}\n".encode() for name, text in attributes.items()
        }

    def link(self, path: str, target: str) -> None:
        """Add a relative link, as sysfs has them."""
        self.links[path] = posixpath.relpath(target, posixpath.dirname(path))

    def device_link(self, folder: str) -> None:
        """Add a class device's link to its parent, written as the kernel does: by name."""
        parent = posixpath.dirname(posixpath.dirname(folder))
        self.links[f"{folder}/device"] = f"../../../{posixpath.basename(parent)}"


@dataclass(frozen=True, slots=True)
class Layout:
    """The folders of one card, below the host root."""

    placement: Placement

    def function(self, number: int = 0) -> str:
        """A PCI function's folder."""
        return f"{self.placement.bridge}/{self.placement.slot}.{number}"

    @property
    def base_region(self) -> str:
        """The first function's region, which holds FME and port."""
        return f"{self.function()}/fpga_region/region{self.placement.first_region}"

    @property
    def fme(self) -> str:
        """The management engine."""
        return f"{self.base_region}/dfl-fme.{self.placement.unit}"

    @property
    def port(self) -> str:
        """The port that a user's process opens."""
        return f"{self.base_region}/dfl-port.{self.placement.unit}"

    @property
    def nested_region(self) -> str:
        """The region that takes AFUs."""
        folder = f"{self.fme}/dfl-fme-region.{self.placement.unit}/fpga_region"
        return f"{folder}/region{self.placement.nested_region}"

    @property
    def port_node(self) -> str:
        """The port's device node, as on the host."""
        return f"/dev/dfl-port.{self.placement.unit}"

    @property
    def fme_node(self) -> str:
        """The management engine's device node, as on the host."""
        return f"/dev/dfl-fme.{self.placement.unit}"

    def hwmon(self, index: int) -> str:
        """The folder of the profile's hwmon number ``index``."""
        parent = self.placement.card_profile.hwmons[index].parent
        number = self.placement.first_hwmon + index
        return posixpath.join(self.fme, parent, "hwmon", f"hwmon{number}")

    def attribute(self, name: str) -> str:
        """The path of ``afu_id``, ``compat_id``, or of any path below the first function."""
        known = {"afu_id": f"{self.port}/afu_id", "compat_id": f"{self.nested_region}/compat_id"}
        return known.get(name, f"{self.function()}/{name}")


def card_tree(placement: Placement) -> Tree:
    """Everything that one card adds to its host."""
    tree, layout, profile = Tree(), Layout(placement), placement.card_profile
    region = placement.first_region
    for function in profile.functions:
        _add_function(tree, layout, function)
        if function.region:
            _add_base_region(tree, layout, function, region)
            region += 1
    _add_fme(tree, layout, profile)
    _add_port(tree, layout, profile)
    for index, hwmon in enumerate(profile.hwmons):
        _add_hwmon(tree, layout.hwmon(index), hwmon)
    return _padded(tree, profile)


def _add_function(tree: Tree, layout: Layout, function: FunctionProfile) -> None:
    folder = layout.function(function.number)
    address = posixpath.basename(folder)
    tree.files |= {
        f"{folder}/{name}": content
        for name, content in function_files(layout.placement, function).items()
    }
    tree.link(f"{folder}/subsystem", "sys/bus/pci")
    tree.link(f"sys/bus/pci/devices/{address}", folder)
    if function.driver:
        driver = f"sys/bus/pci/drivers/{function.driver}"
        tree.link(f"{folder}/driver", driver)
        tree.link(f"{driver}/{address}", folder)
    if function.driver == "virtio-pci":
        tree.add(f"{folder}/virtio0", {"device": "0x0000", "vendor": "0x1af4"})


def _add_base_region(tree: Tree, layout: Layout, function: FunctionProfile, number: int) -> None:
    folder = layout.function(function.number)
    region = f"{folder}/fpga_region/region{number}"
    tree.device_link(region)
    tree.link(f"{region}/subsystem", "sys/class/fpga_region")
    tree.link(f"sys/class/fpga_region/region{number}", region)
    tree.files[f"{region}/uevent"] = b""
    if layout.placement.card_profile.base_compat_id:
        tree.files[f"{region}/compat_id"] = b""


def _add_fme(tree: Tree, layout: Layout, profile: CardProfile) -> None:
    unit = layout.placement.unit
    tree.files[layout.fme_node.lstrip("/")] = b""
    tree.add(
        layout.fme,
        {
            "dev": f"245:{unit}",
            "uevent": f"MAJOR=245\nMINOR={unit}\nDEVNAME=dfl-fme.{unit}\nDRIVER=dfl-fme",
            "ports_num": "1",
            "bitstream_id": profile.bitstream_id,
            "bitstream_metadata": profile.bitstream_metadata,
            "cache_size": "0",
            "socket_id": "0",
            profile.fabric_attribute: "0",
        },
    )
    tree.link(f"{layout.fme}/subsystem", "sys/bus/platform")
    _add_fme_errors(tree, layout.fme, profile)
    _add_manager(tree, layout, profile)
    _add_bridge(tree, layout)
    nested = layout.nested_region
    tree.add(nested, {"compat_id": profile.interface_id})
    tree.device_link(nested)
    tree.link(f"{nested}/subsystem", "sys/class/fpga_region")
    tree.link(f"sys/class/fpga_region/{posixpath.basename(nested)}", nested)


def _add_fme_errors(tree: Tree, fme: str, profile: CardProfile) -> None:
    zero = profile.error_zero
    names = ("fme_errors", "first_error", "next_error", "pcie0_errors", "pcie1_errors")
    tree.add(
        f"{fme}/errors",
        dict.fromkeys(names, zero)
        | {"inject_errors": zero, "catfatal_errors": "0x0", "nonfatal_errors": "0x0"},
    )


def _add_manager(tree: Tree, layout: Layout, profile: CardProfile) -> None:
    unit = layout.placement.unit
    new = f"{layout.fme}/dfl-fme-mgr.{unit}"
    manager = f"{layout.fme if profile.old_manager else new}/fpga_manager/fpga{unit}"
    name = "Intel FPGA Manager" if profile.old_manager else "DFL FME FPGA Manager"
    # The driver's own state is always "unknown" until the first programming.
    tree.add(manager, {"name": name, "state": "unknown"})
    tree.device_link(manager)
    tree.link(f"sys/class/fpga_manager/fpga{unit}", manager)
    status = b"0\n" if profile.old_manager else b""
    tree.files[f"{new}/fpga_manager/fpga{unit}/status"] = status


def _add_bridge(tree: Tree, layout: Layout) -> None:
    unit = layout.placement.unit
    bridge = f"{layout.fme}/dfl-fme-bridge.{unit}.auto/fpga_bridge/br{unit}"
    tree.add(bridge, {"name": "DFL FPGA FME Bridge", "state": "enabled"})
    tree.device_link(bridge)
    tree.link(f"sys/class/fpga_bridge/br{unit}", bridge)


def _add_port(tree: Tree, layout: Layout, profile: CardProfile) -> None:
    unit, port = layout.placement.unit, layout.port
    tree.files[layout.port_node.lstrip("/")] = b""
    tree.add(
        port,
        {
            "dev": f"244:{unit}",
            "uevent": f"MAJOR=244\nMINOR={unit}\nDEVNAME=dfl-port.{unit}\nDRIVER=dfl-port",
            "id": "0",
            "power_state": "0x0",
            "ap1_event": "0",
            "ap2_event": "0",
            "ltr": "1",
        }
        | profile.userclock_attributes,
    )
    tree.link(f"{port}/subsystem", "sys/bus/platform")
    if profile.afu_id is not None:
        tree.add(port, {"afu_id": profile.afu_id})
        tree.add(
            f"{port}/errors",
            {"errors": "0x0", "first_error": "0x0", "first_malformed_req": "0x" + 32 * "0"},
        )


def _add_hwmon(tree: Tree, folder: str, hwmon: HwmonProfile) -> None:
    tree.add(folder, {"name": hwmon.name})
    tree.files |= {
        f"{folder}/{name}": b"" if text is None else f"{text}\n".encode()
        for name, text in hwmon.attributes.items()
    }
    tree.device_link(folder)
    tree.link(f"sys/class/hwmon/{posixpath.basename(folder)}", folder)


def _padded(tree: Tree, profile: CardProfile) -> Tree:
    for path, content in tree.files.items():
        if posixpath.basename(path) in profile.nul_padded and "/dfl-" in path:
            tree.files[path] = content.ljust(PAGE, b"\0")
    return tree
