"""Card profiles as data. Ids, formats and sensor traps are those of captures of real cards.

Sources: the OPAE SDK's captures of N3000, N6000 and PAC A10 on DFL; Linux
``Documentation/ABI/testing/sysfs-platform-dfl-fme``; limits that no capture has are plausible.
"""

from dataclasses import dataclass, field
from typing import Final

from fpga_common.domain.errors import Permanent
from fpga_common.testing.sim.sensors import (
    BMC_D5005,
    BMC_N3000,
    BMC_N6000,
    FME_POWER,
    FME_THERMAL,
    FME_THERMAL_N6000,
    HwmonProfile,
)


class UnknownProfile(Permanent):
    """There is no such card profile."""

    code = "unknown_profile"


@dataclass(frozen=True, slots=True)
class LinkProfile:
    """Link attributes as the kernel prints them; speeds in GT/s, widths in lanes."""

    current_speed: str
    max_speed: str
    current_width: int
    max_width: int


@dataclass(frozen=True, slots=True)
class FunctionProfile:
    """One PCI function; ids are hex digits. ``region``: it has a top-level fpga_region."""

    number: int
    vendor: str
    device: str
    subsystem_vendor: str
    subsystem_device: str
    region: bool = True
    driver: str | None = "dfl-pci"
    revision: str = "0x00"
    sriov_total: int = 0
    vf_device: str = ""


@dataclass(frozen=True, slots=True)
class CardProfile:
    """What one kind of card shows; the first function has the FME and the port.

    ``overheats`` names the hwmon and the channel that ``overheat()`` raises above its own limit.
    ``nul_padded`` attributes are filled up with NULs to a page, as some captures have them.
    """

    name: str
    functions: tuple[FunctionProfile, ...]
    link: LinkProfile
    interface_id: str
    afu_id: str | None
    bitstream_id: str
    bitstream_metadata: str
    hwmons: tuple[HwmonProfile, ...]
    overheats: tuple[str, str]
    fabric_attribute: str = "fabric_version"
    error_zero: str = "0x0"
    base_compat_id: bool = False
    old_manager: bool = False
    userclock_attributes: dict[str, str] = field(default_factory=dict)
    nul_padded: frozenset[str] = frozenset()


_OLD_USERCLOCK: Final = {
    "userclk_freqcmd": "0x0",
    "userclk_freqcntrcmd": "0x0",
    "userclk_freqcntrsts": "0x3000000000003ce3",
    "userclk_freqsts": "0x1001000000000007",
}
_GEN3X8: Final = LinkProfile("8.0 GT/s PCIe", "8.0 GT/s PCIe", 8, 8)
_GEN3X16: Final = LinkProfile("8.0 GT/s PCIe", "8.0 GT/s PCIe", 16, 16)

PAC_A10: Final = CardProfile(
    name="pac-a10",
    functions=(
        FunctionProfile(0, "8086", "09c4", "8086", "0000", sriov_total=1, vf_device="09c5"),
    ),
    link=_GEN3X8,
    interface_id="F64E598BEA11517FA28E7BC65D885104",
    afu_id="d8424dc4a4a3c413f89e433683f9040b",
    bitstream_id="0x113000200000177",
    bitstream_metadata="0x1809211",
    hwmons=(FME_THERMAL, FME_POWER),
    overheats=("dfl_fme_thermal", "temp1"),
    fabric_attribute="version",
    error_zero="0",
    old_manager=True,
    userclock_attributes=_OLD_USERCLOCK,
    nul_padded=frozenset({"bitstream_id", "bitstream_metadata", "ports_num", "id", "ltr"}),
)

N3000: Final = CardProfile(
    name="n3000",
    functions=(
        FunctionProfile(0, "8086", "0b30", "8086", "0000", sriov_total=1, vf_device="0b31"),
    ),
    link=_GEN3X16,
    interface_id="a5d72a3cc8b04939912cf715e5dc10ca",
    afu_id="9aeffe5f84570612c000c9660d824272",
    bitstream_id="0x202000200000237",
    bitstream_metadata="0x1910174",
    hwmons=(BMC_N3000,),
    overheats=("n3000bmc_hwmon", "temp2"),
    fabric_attribute="version",
    error_zero="0",
    old_manager=True,
    userclock_attributes=_OLD_USERCLOCK,
)

D5005: Final = CardProfile(
    name="d5005",
    functions=(
        FunctionProfile(0, "8086", "0b2b", "8086", "0000", sriov_total=1, vf_device="0b2c"),
    ),
    link=_GEN3X16,
    interface_id="9346116da52d5ca8b06aa9a389ef7c8d",
    afu_id="f7df405cbd7acf7222f144b0b93acd18",
    bitstream_id="0x202000200000337",
    bitstream_metadata="0x2003033",
    hwmons=(FME_THERMAL, FME_POWER, BMC_D5005),
    overheats=("d5005bmc_hwmon", "temp4"),
)

_N6000_IDS: Final = ("8086", "bcce", "8086", "1770")

N6000: Final = CardProfile(
    name="n6000",
    functions=(
        FunctionProfile(0, *_N6000_IDS, revision="0x01", sriov_total=3, vf_device="bccf"),
        FunctionProfile(1, *_N6000_IDS, sriov_total=1, vf_device="bccf"),
        FunctionProfile(2, *_N6000_IDS),
        FunctionProfile(3, "1af4", "1000", "1af4", "1770", region=False, driver="virtio-pci"),
        FunctionProfile(4, *_N6000_IDS),
    ),
    link=LinkProfile("8 GT/s", "16 GT/s", 8, 16),
    interface_id="98b4d5bc98ba5f4b98d9a2841ccf11b0",
    afu_id=None,
    bitstream_id="0x501020222df1b7a",
    bitstream_metadata="0x2110055",
    hwmons=(FME_THERMAL_N6000, BMC_N6000),
    overheats=("n6000bmc_hwmon", "temp1"),
    base_compat_id=True,
)

PROFILES: Final[dict[str, CardProfile]] = {
    profile.name: profile for profile in (PAC_A10, N3000, D5005, N6000)
}


def profile_named(name: str) -> CardProfile:
    """The profile of that name. Raises UnknownProfile."""
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(PROFILES)
        raise UnknownProfile(f"no card profile {name!r}", expected=known, actual=name) from None
