"""The inventory of captures of real machines, exactly as the design expects it.

The captures are not part of the project: they lie in a folder ``shared/hardware`` beside the
checkout, where somebody put them.
"""

import tarfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fpga_common.domain.card import Card, PciLink, RegionState
from fpga_common.domain.health import HealthStatus
from fpga_plugin.inventory.once import read_once

CAPTURES = Path(__file__).parents[3] / "shared/hardware"

pytestmark = pytest.mark.captures


@dataclass(frozen=True)
class Expected:
    """What one capture must show; the slot's functions are numbered from 0."""

    card: str
    ids: str
    backend: str
    model: str
    interface_id: str
    afu_id: str | None
    node: str
    control_node: str
    status: HealthStatus = HealthStatus.HEALTHY
    functions: int = 1


A10_LEGACY = Expected(
    card="0000:05:00.0",
    ids="8086:09c4",
    backend="opae",
    model="Intel PAC Arria 10 GX",
    interface_id="f64e598bea11517fa28e7bc65d885104",
    afu_id="d8424dc4a4a3c413f89e433683f9040b",
    node="/dev/intel-fpga-port.0",
    control_node="/dev/intel-fpga-fme.0",
)

EXPECTED = {
    "tmp-dcp-rc-nlb3": A10_LEGACY,
    "tmp-dcp-rc-dfl0_patchset2-nlb0": replace(
        A10_LEGACY, backend="dfl", node="/dev/dfl-port.0", control_node="/dev/dfl-fme.0"
    ),
    "dfl_n3000_nlb0": Expected(
        card="0000:05:00.0",
        ids="8086:0b30",
        backend="dfl",
        model="Intel PAC N3000",
        interface_id="a5d72a3cc8b04939912cf715e5dc10ca",
        afu_id="9aeffe5f84570612c000c9660d824272",
        node="/dev/dfl-port.0",
        control_node="/dev/dfl-fme.0",
    ),
    "dfl_n6000_sku0_nlb0": Expected(
        card="0000:01:00.0",
        ids="8086:bcce",
        backend="dfl",
        model="Intel N6000",
        interface_id="98b4d5bc98ba5f4b98d9a2841ccf11b0",
        afu_id=None,
        node="/dev/dfl-port.0",
        control_node="/dev/dfl-fme.0",
        status=HealthStatus.WARNING,
        functions=5,
    ),
}


def unpack(capture: str, folder: Path) -> Path:
    archive = CAPTURES / f"mock_sys_{capture}.tar.gz"
    if not archive.is_file():
        pytest.skip(f"there is no capture {archive}")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / "tmp"


def only_card(capture: str, folder: Path) -> Card:
    (card,) = read_once(unpack(capture, folder))
    return card


@pytest.mark.parametrize(("capture", "expected"), EXPECTED.items(), ids=EXPECTED.keys())
def test_a_capture_gives_the_expected_inventory(
    tmp_path: Path, capture: str, expected: Expected
) -> None:
    card = only_card(capture, tmp_path)
    assert card.pci is not None
    assert (card.id, f"{card.pci.vendor}:{card.pci.device}") == (expected.card, expected.ids)
    assert (card.backend, card.model) == (expected.backend, expected.model)
    assert card.numa_node is None
    assert [str(function.address) for function in card.functions] == [
        f"{expected.card[:-1]}{number}" for number in range(expected.functions)
    ]
    assert card.virtual_functions == ()
    (region,) = card.regions
    assert region.id == f"{expected.card}-r0"
    assert region.state is RegionState.READY
    assert region.interface_id == expected.interface_id
    assert region.afu_id == expected.afu_id
    assert region.device_nodes == (expected.node,)
    assert region.control_nodes == (expected.control_node,)
    assert card.health.status is expected.status
    assert region.health.allocatable


def test_the_n6000_runs_on_a_slow_link_and_has_no_other_reason(tmp_path: Path) -> None:
    card = only_card("dfl_n6000_sku0_nlb0", tmp_path)
    assert card.pci is not None
    assert card.pci.link == PciLink(8.0, 16.0, 8, 16)
    (reason,) = card.health.reasons
    assert (reason.check, reason.observed, reason.expected) == (
        "pci_link",
        "8 GT/s ×8",
        "16 GT/s ×16",
    )


@pytest.mark.parametrize(
    ("capture", "sensors"),
    [
        ("tmp-dcp-rc-nlb3", {"temperature_celsius": 38.0}),
        ("tmp-dcp-rc-dfl0_patchset2-nlb0", {}),
        ("dfl_n3000_nlb0", {"temperature_celsius": 50.0, "power_watts": 64.709}),
        ("dfl_n6000_sku0_nlb0", {"temperature_celsius": 53.5, "power_watts": 50.909}),
    ],
)
def test_a_captures_sensors_have_plausible_units(
    tmp_path: Path, capture: str, sensors: dict[str, float]
) -> None:
    assert only_card(capture, tmp_path).sensors == sensors
