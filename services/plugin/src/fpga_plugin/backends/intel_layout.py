"""What differs between the in-tree DFL driver and Intel's older OPAE driver: only names.

Sources: Linux Documentation/fpga/dfl.rst, Documentation/ABI/testing/sysfs-platform-dfl-fme and
sysfs-platform-dfl-port; captures of both drivers published with the OPAE SDK.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Layout:
    """Names of folders and files below one card.

    ``class_folder`` has an entry a PCI function that begins with ``entry``; the entry's folder has
    the FME (management) and the ports (one an AFU). ``interface`` ends the path, below the FME,
    of the PR interface id; ``nested_region`` is in that path and in no card's own class entry.
    ``pr_devices`` begin the names of the devices that the FME makes for its PR hardware.
    """

    backend: str
    class_folder: str
    entry: str
    fme: str
    port: str
    interface: str
    nested_region: str
    pr_devices: tuple[str, ...]
    pr_modules: str
    fatal_errors: tuple[str, ...]
    fme_errors: tuple[str, ...]


DFL: Final = Layout(
    backend="dfl",
    class_folder="/sys/class/fpga_region",
    entry="region",
    fme="dfl-fme.",
    port="dfl-port.",
    interface="/compat_id",
    nested_region="/dfl-fme-region.",
    pr_devices=("dfl-fme-region.", "dfl-fme-mgr."),
    pr_modules="dfl_fme_mgr, dfl_fme_br and dfl_fme_region",
    fatal_errors=("catfatal_errors",),
    fme_errors=("nonfatal_errors", "fme_errors", "pcie0_errors", "pcie1_errors"),
)

OPAE: Final = Layout(
    backend="opae",
    class_folder="/sys/class/fpga",
    entry="intel-fpga-dev.",
    fme="intel-fpga-fme.",
    port="intel-fpga-port.",
    interface="/pr/interface_id",
    nested_region="/pr/",
    pr_devices=("pr",),
    pr_modules="intel-fpga-fme",
    fatal_errors=("catfatal_errors",),
    fme_errors=("nonfatal_errors", "fme-errors/errors", "pcie0_errors", "pcie1_errors"),
)
