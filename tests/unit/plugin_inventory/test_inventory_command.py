"""``fpga-plugin inventory``: its JSON fits the published schema, its table is for people."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fpga_common.contract.inventory import InventoryDocument
from fpga_common.testing.sim import SimulatedHost
from fpga_plugin.cli import main

SCHEMA = Path(__file__).parents[3] / "docs/schemas/inventory.schema.json"


@pytest.fixture(scope="module")
def schema() -> Any:
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


def inventory(host: SimulatedHost, capsys: pytest.CaptureFixture[str], output: str) -> str:
    assert main(["inventory", "--host-root", str(host.root), "-o", output]) == 0
    return capsys.readouterr().out


def test_the_json_of_good_and_broken_cards_fits_the_schema_and_the_contract(
    host: SimulatedHost, capsys: pytest.CaptureFixture[str], schema: Any
) -> None:
    for profile in ("pac-a10", "n3000", "d5005", "n6000"):
        host.add_card(profile)
    first, second, third, _ = host.cards
    first.overheat()
    second.remove_device_node()
    third.break_attribute("compat_id")
    document = json.loads(inventory(host, capsys, "json"))
    jsonschema.validate(document, schema)
    InventoryDocument.model_validate(document)
    assert [card["id"] for card in document["cards"]] == [card.id for card in host.cards]


def test_a_card_that_hangs_is_in_the_json_and_fits_the_schema(
    host: SimulatedHost, capsys: pytest.CaptureFixture[str], schema: Any
) -> None:
    card = host.add_card("pac-a10")
    card.hang_read()
    try:
        document = json.loads(inventory(host, capsys, "json"))
    finally:
        card.heal()
    jsonschema.validate(document, schema)
    assert document["cards"][0]["health"]["reasons"][0]["check"] == "card_readable"


def test_an_empty_host_is_an_empty_list(
    host: SimulatedHost, capsys: pytest.CaptureFixture[str], schema: Any
) -> None:
    document = json.loads(inventory(host, capsys, "json"))
    jsonschema.validate(document, schema)
    assert document == {"cards": []}


def test_the_table_has_a_line_a_region_and_the_reasons_below(
    host: SimulatedHost, capsys: pytest.CaptureFixture[str]
) -> None:
    card, other = host.add_card("n3000"), host.add_card("pac-a10")
    card.lose_link_width()
    lines = inventory(host, capsys, "table").splitlines()
    assert lines[0].split()[:2] == ["REGION", "MODEL"]
    assert [line.split()[0] for line in lines[1:3]] == [card.region_id, other.region_id]
    assert lines[3] == f"{card.id} warning: the PCI link runs at 8 GT/s ×8 of 8 GT/s ×16"


def test_the_table_of_an_empty_host_says_so(
    host: SimulatedHost, capsys: pytest.CaptureFixture[str]
) -> None:
    assert inventory(host, capsys, "table") == "no FPGA cards found\n"


def test_a_host_root_that_is_none_is_refused_with_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inventory", "--host-root", str(tmp_path / "none")]) == 2
    assert "host_root" in capsys.readouterr().err
