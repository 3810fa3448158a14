"""Every health check: what it reads, in which unit, what a failure means, and where that is from.

``verdict`` judges by this table and the documentation is made from it. ``essential`` checks count
as failed also while they cannot be read; a card that lacks the attribute altogether (an old
driver, a copied tree) makes no observation, so that the check does not apply.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fpga_common.domain.health import Severity


class CheckName(StrEnum):
    """The stable names of the checks."""

    CARD_PRESENT = "card_present"
    CARD_READABLE = "card_readable"
    CONFIG_SPACE = "config_space"
    DRIVER = "driver"
    DEVICE_NODE = "device_node"
    REGION_USABLE = "region_usable"
    TEMPERATURE_CRITICAL = "temperature_critical"
    TEMPERATURE_HIGH = "temperature_high"
    FME_CATASTROPHIC_ERRORS = "fme_catastrophic_errors"
    FME_ERRORS = "fme_errors"
    PORT_ERRORS = "port_errors"
    PCI_LINK = "pci_link"
    AFU_ID = "afu_id"


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """One row of the table. ``reads`` are files below the card, or what else is looked at."""

    name: CheckName
    severity: Severity
    essential: bool
    reads: str
    unit: str
    source: str


_F, _W = Severity.FATAL, Severity.WARNING
_N = CheckName

CHECKS: Final[dict[str, CheckSpec]] = {
    spec.name.value: spec
    for spec in (
        CheckSpec(
            _N.CARD_PRESENT,
            _F,
            True,
            "class entry of the driver, /sys/bus/pci/devices",
            "",
            "a card that left the bus is gone at once",
        ),
        CheckSpec(
            _N.CARD_READABLE,
            _F,
            True,
            "time that one reading of the card takes",
            "s",
            "a read of a dead device may never return",
        ),
        CheckSpec(
            _N.CONFIG_SPACE,
            _F,
            True,
            "config, first 4 bytes",
            "vendor:device",
            "PCI: a device that does not answer reads as all ones",
        ),
        CheckSpec(
            _N.DRIVER,
            _F,
            True,
            "driver",
            "",
            "without its driver a card has no regions (OPAE issue 2514)",
        ),
        CheckSpec(
            _N.DEVICE_NODE,
            _F,
            True,
            "/dev/dfl-port.N, /dev/intel-fpga-port.N; on a node its type and number too",
            "",
            "a container runtime takes only device nodes that exist",
        ),
        CheckSpec(
            _N.REGION_USABLE,
            _F,
            True,
            "port, compat_id or pr/interface_id",
            "",
            "intel-device-plugins issue 667; Documentation/fpga/dfl.rst",
        ),
        CheckSpec(
            _N.TEMPERATURE_CRITICAL,
            _F,
            False,
            "hwmon tempN_input against tempN_crit, else tempN_emergency",
            "°C",
            "hwmon sysfs interface; a limit of 0 is no limit",
        ),
        CheckSpec(
            _N.TEMPERATURE_HIGH,
            _W,
            False,
            "hwmon tempN_input against tempN_max",
            "°C",
            "hwmon sysfs interface; a limit of 0 is no limit",
        ),
        CheckSpec(
            _N.FME_CATASTROPHIC_ERRORS,
            _F,
            False,
            "errors/catfatal_errors",
            "bits",
            "sysfs-platform-dfl-fme: catastrophic and fatal errors, the card cannot go on",
        ),
        CheckSpec(
            _N.FME_ERRORS,
            _W,
            False,
            "errors/nonfatal_errors, fme_errors, pcie0_errors, pcie1_errors",
            "bits",
            "sysfs-platform-dfl-fme: kept until cleared, the card goes on",
        ),
        CheckSpec(
            _N.PORT_ERRORS,
            _W,
            False,
            "errors/errors of the port",
            "bits",
            "sysfs-platform-dfl-port: the AFU's doing, gone with the next one",
        ),
        CheckSpec(
            _N.PCI_LINK,
            _W,
            False,
            "current_link_speed, current_link_width against max_link_speed, max_link_width",
            "GT/s, lanes",
            "sysfs-bus-pci: a slower link works, with less bandwidth",
        ),
        CheckSpec(
            _N.AFU_ID,
            _W,
            False,
            "afu_id; only an unreadable one counts, all f, absent or EBUSY is an unknown AFU",
            "",
            "sysfs-platform-dfl-port: EBUSY while the port is disabled or in reset",
        ),
    )
}
