"""Labels of a Node as data: devices in, labels and patches out."""

import re

import pytest

from fpga_bitstream_manager.cluster.devices import ReportedDevice
from fpga_bitstream_manager.cluster.labels import difference, labels_of, model_slug
from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus

INTERFACE = "a5d72a3cc8b04939912cf715e5dc10ca"
OTHER = "f64e598bea11517fa28e7bc65d885104"
KEY = re.compile(r"fpga-platform\.io/[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?")


def device(
    card: str = "0000:3b:00.0",
    region: int = 0,
    *,
    model: str = "Intel FPGA PAC N3000",
    interface_id: str | None = INTERFACE,
    state: RegionState = RegionState.READY,
) -> ReportedDevice:
    return ReportedDevice(
        f"{card}-r{region}", card, model, interface_id, state, HealthStatus.HEALTHY
    )


def test_a_node_says_how_many_cards_it_has_and_which() -> None:
    devices = [
        device(),
        device(region=1, interface_id=OTHER),
        device("0000:5e:00.0", model="Intel FPGA PAC D5005", interface_id=None),
    ]
    assert labels_of(devices) == {
        "fpga-platform.io/present": "true",
        "fpga-platform.io/cards": "2",
        "fpga-platform.io/model.intel-fpga-pac-n3000": "true",
        "fpga-platform.io/model.intel-fpga-pac-d5005": "true",
        f"fpga-platform.io/interface.{INTERFACE}": "true",
        f"fpga-platform.io/interface.{OTHER}": "true",
    }


def test_a_node_without_cards_has_no_labels() -> None:
    assert labels_of([]) == {}
    assert labels_of([device(state=RegionState.MISSING)]) == {}


def test_a_card_that_is_gone_does_not_count() -> None:
    labels = labels_of(
        [device(), device("0000:5e:00.0", interface_id=OTHER, state=RegionState.MISSING)]
    )
    assert labels["fpga-platform.io/cards"] == "1"
    assert f"fpga-platform.io/interface.{OTHER}" not in labels


@pytest.mark.parametrize(
    ("model", "slug"),
    [
        ("Intel FPGA PAC N3000", "intel-fpga-pac-n3000"),
        ("  (D5005) ", "d5005"),
        ("Alveo U250/XDMA_2.1", "alveo-u250-xdma-2-1"),
        ("Karte für Zürich", "karte-f-r-z-rich"),
        ("???", ""),
        ("", ""),
        ("x" * 200, "x" * 57),
        ("x" * 56 + " y", "x" * 56),
    ],
)
def test_any_model_s_name_becomes_a_valid_key(model: str, slug: str) -> None:
    assert model_slug(model) == slug
    assert all(KEY.fullmatch(key) for key in labels_of([device(model=model)]))


@pytest.mark.parametrize("interface_id", [None, "", "A" * 32, "0" * 31, "not/valid"])
def test_what_is_no_interface_id_gives_no_label(interface_id: str | None) -> None:
    labels = labels_of([device(interface_id=interface_id)])
    assert not [key for key in labels if "interface" in key]


def test_a_patch_holds_what_differs_and_nothing_of_others() -> None:
    present = {
        "kubernetes.io/hostname": "n1",
        "example.com/model.a": "true",
        "fpga-platform.io/reserved-for": "team-a",
        "fpga-platform.io/present": "true",
        "fpga-platform.io/cards": "2",
        "fpga-platform.io/model.old": "true",
        "fpga-platform.io/interface.old": "true",
    }
    wanted = {
        "fpga-platform.io/present": "true",
        "fpga-platform.io/cards": "1",
        "fpga-platform.io/model.new": "true",
    }
    assert difference(present, wanted) == {
        "fpga-platform.io/cards": "1",
        "fpga-platform.io/model.new": "true",
        "fpga-platform.io/model.old": None,
        "fpga-platform.io/interface.old": None,
    }
    assert difference(wanted | {"zone": "west"}, wanted) == {}
