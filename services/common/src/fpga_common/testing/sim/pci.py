"""A simulated PCI function's attributes, without I/O.

Source of the formats: Linux ``drivers/pci/pci-sysfs.c`` and captures of real cards.
"""

import struct

from fpga_common.testing.sim.placement import Placement
from fpga_common.testing.sim.profiles import FunctionProfile

_CORRECTABLE = (
    "RxErr",
    "BadTLP",
    "BadDLLP",
    "Rollover",
    "Timeout",
    "NonFatalErr",
    "CorrIntErr",
    "HeaderOF",
)
_UNCORRECTABLE = (
    "Undefined",
    "DLP",
    "SDES",
    "TLP",
    "FCP",
    "CmpltTO",
    "CmpltAbrt",
    "UnxCmplt",
    "RxOF",
    "MalfTLP",
    "ECRC",
    "UnsupReq",
    "ACSViol",
    "UncorrIntErr",
    "BlockedTLP",
    "AtomicOpBlocked",
    "TLPBlockedErr",
)
PROCESSING_ACCELERATOR = "120000"
CONFIG_BYTES = 256


def function_files(placement: Placement, function: FunctionProfile) -> dict[str, bytes]:
    """The files of one function's folder by name."""
    texts = _identity(function) | _links(placement) | _counters() | _sriov(function)
    texts["numa_node"] = str(-1 if placement.numa_node is None else placement.numa_node)
    texts["uevent"] = _uevent(placement, function)
    files = {name: f"{text}\n".encode() for name, text in texts.items()}
    write_only = dict.fromkeys(("remove", "rescan", "reset"), b"")
    return files | write_only | {"config": _config_space(function)}


def _identity(function: FunctionProfile) -> dict[str, str]:
    return {
        "vendor": f"0x{function.vendor}",
        "device": f"0x{function.device}",
        "subsystem_vendor": f"0x{function.subsystem_vendor}",
        "subsystem_device": f"0x{function.subsystem_device}",
        "class": f"0x{PROCESSING_ACCELERATOR}",
        "revision": function.revision,
        "enable": "1",
        "irq": "0",
        "local_cpulist": "0-11",
        "local_cpus": "fff",
    }


def _links(placement: Placement) -> dict[str, str]:
    link = placement.card_profile.link
    return {
        "current_link_speed": link.current_speed,
        "max_link_speed": link.max_speed,
        "current_link_width": str(link.current_width),
        "max_link_width": str(link.max_width),
    }


def _counters() -> dict[str, str]:
    return {
        "aer_dev_correctable": _aer(_CORRECTABLE, "COR"),
        "aer_dev_nonfatal": _aer(_UNCORRECTABLE, "NONFATAL"),
        "aer_dev_fatal": _aer(_UNCORRECTABLE, "FATAL"),
    }


def _aer(names: tuple[str, ...], total: str) -> str:
    return "\n".join(f"{name} 0" for name in (*names, f"TOTAL_ERR_{total}"))


def _sriov(function: FunctionProfile) -> dict[str, str]:
    if not function.sriov_total:
        return {}
    return {
        "sriov_totalvfs": str(function.sriov_total),
        "sriov_numvfs": "0",
        "sriov_vf_device": function.vf_device,
        "sriov_drivers_autoprobe": "1",
    }


def _uevent(placement: Placement, function: FunctionProfile) -> str:
    lines = [
        f"PCI_CLASS={PROCESSING_ACCELERATOR}",
        f"PCI_ID={function.vendor}:{function.device}".upper(),
        f"PCI_SUBSYS_ID={function.subsystem_vendor}:{function.subsystem_device}".upper(),
        f"PCI_SLOT_NAME={placement.slot}.{function.number}",
    ]
    driver = [f"DRIVER={function.driver}"] if function.driver else []
    return "\n".join(driver + lines)


def _config_space(function: FunctionProfile) -> bytes:
    ids = struct.pack("<HH", int(function.vendor, 16), int(function.device, 16))
    command_and_status = struct.pack("<HH", 0x0406, 0x0010)
    class_code = int(PROCESSING_ACCELERATOR, 16) << 8 | int(function.revision, 16)
    subsystem = struct.pack(
        "<HH", int(function.subsystem_vendor, 16), int(function.subsystem_device, 16)
    )
    header = (ids + command_and_status + struct.pack("<I", class_code)).ljust(0x2C, b"\0")
    return (header + subsystem).ljust(CONFIG_BYTES, b"\0")
