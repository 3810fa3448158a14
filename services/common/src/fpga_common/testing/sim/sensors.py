"""hwmon folders of the card profiles, traps included.

``None`` is an input that exists and yields nothing, as an empty QSFP cage does; a limit of 0 means
"no limit". Units are hwmon's: m°C, mV, mA, µW.
"""

from dataclasses import dataclass
from typing import Final

Attributes = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class HwmonProfile:
    """One hwmon folder. ``parent`` is below the FME; empty for the FME's own."""

    name: str
    parent: str
    attributes: Attributes


def _channel(channel: str, label: str, reading: int | None, *limits: int) -> Attributes:
    """A channel with label and reading, and max and crit where given."""
    attributes: Attributes = {
        f"{channel}_label": label,
        f"{channel}_input": None if reading is None else str(reading),
    }
    attributes |= {
        f"{channel}_{limit}": str(value)
        for limit, value in zip(("max", "crit"), limits, strict=False)
    }
    return attributes


FME_THERMAL: Final = HwmonProfile(
    "dfl_fme_thermal",
    "",
    {
        "temp1_input": "38000",
        "temp1_max": "90000",
        "temp1_crit": "95000",
        "temp1_emergency": "100000",
        "temp1_max_alarm": "0",
        "temp1_crit_alarm": "0",
        "temp1_max_policy": "0",
    },
)
FME_POWER: Final = HwmonProfile(
    "dfl_fme_power",
    "",
    {
        "power1_input": "23000000",
        "power1_max": "66000000",
        "power1_crit": "69000000",
        "power1_max_alarm": "0",
        "power1_crit_alarm": "0",
        "power1_xeon_limit": "0",
        "power1_fpga_limit": "0",
        "power1_ltr": "1",
    },
)
FME_THERMAL_N6000: Final = HwmonProfile("dfl_fme_thermal", "", {"temp1_input": "0"})

BMC_N3000: Final = HwmonProfile(
    "n3000bmc_hwmon",
    "dfl_dev.6/subdev_spi_altera.3.auto/spi_master/spi4/spi4.0/n3000bmc-hwmon.6.auto",
    _channel("temp1", "Board Temperature", 35000, 85000, 100000)
    | _channel("temp2", "FPGA Die Temperature", 50000, 90000, 100000)
    | _channel("temp3", "QSFP0 Temperature", None, 0, 0)
    | _channel("temp4", "QSFP1 Temperature", None, 0, 0)
    | _channel("temp5", "PKVL1 Temperature", 0)
    | _channel("in0", "QSFP0 Supply Voltage", None)
    | _channel("in1", "QSFP1 Supply Voltage", None)
    | _channel("in2", "FPGA Core Voltage", 899)
    | _channel("in3", "12V Backplane Voltage", 12164)
    | _channel("curr1", "FPGA Core Current", 14265)
    | _channel("power1", "Board Power", 64709000),
)
BMC_D5005: Final = HwmonProfile(
    "d5005bmc_hwmon",
    "dfl_dev.3/spi_master/spi0/spi0.0/d5005bmc-hwmon.1.auto",
    _channel("temp1", "Board Inlet Air Temperature", 29000, 70000, 80000)
    | _channel("temp2", "FPGA Core Temperature", 46000, 95000, 100000)
    | _channel("temp4", "FPGA Transceiver Temperature", 48000, 95000, 100000)
    | _channel("temp9", "QSFP0 Temperature", None, 80000, 90000)
    | _channel("in1", "12V Backplane Voltage", None)
    | _channel("power1", "Board Power", 71000000),
)
BMC_N6000: Final = HwmonProfile(
    "n6000bmc_hwmon",
    "dfl_dev.3/n6000bmc-hwmon.1.auto",
    _channel("temp1", "FPGA E-TILE Temperature #1", 50000, 90000, 100000)
    | _channel("temp2", "FPGA E-TILE Temperature #2", 51500, 90000, 100000)
    | _channel("temp15", "Board Top Near FPGA Temperature", 47000, 90000, 95000)
    | _channel("temp21", "QSFP (Primary) Temperature", None, 85000, 90000)
    | _channel("temp31", "CVL Core Voltage Rail VR Temperature", 61000, 0, 0)
    | _channel("in13", "QSFP (Primary) Supply Rail Voltage", None)
    | _channel("in0", "Inlet 12V PCIe Rail Voltage", 11896)
    | _channel("curr1", "Inlet 12V PCIe Rail Current", 2365, 5748, 6045)
    | _channel("power1", "Board Power", 50909),
)
