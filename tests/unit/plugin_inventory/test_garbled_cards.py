"""Attributes that hold anything at all: the card stays listed, and no nonsense is passed on."""

import json

import pytest

from fpga_common.domain.card import Card, RegionState
from fpga_common.domain.documents import inventory_document
from fpga_common.domain.health import HealthStatus
from fpga_common.testing.sim import SimulatedCard, SimulatedHost
from fpga_plugin.inventory.once import read_once
from fpga_plugin.inventory.snapshot import Snapshot
from fpga_plugin.kubelet.messages import list_message
from fpga_plugin.pools import members
from fpga_plugin.settings import PoolSettings

GARBAGE = (
    b"",
    b"\0" * 64,
    b"\xff\xfe\x80garbage",
    b"nan",
    b"-inf",
    b"-1",
    b"9" * 4000,
    b"0x" + b"f" * 4000,
    b"1e999",
    "\u0663".encode(),
    b"\x1b[31m",
)
ATTRIBUTES = (
    "vendor",
    "subsystem_device",
    "class",
    "numa_node",
    "current_link_width",
    "max_link_speed",
    "config",
    "*/**/ports_num",
    "*/**/bitstream_id",
    "*/**/dfl-port.*/id",
    "*/**/afu_id",
    "*/**/compat_id",
    "*/**/temp*_input",
    "*/**/temp*_crit",
    "*/**/power*_input",
    "*/**/errors/errors",
    "*/**/catfatal_errors",
)


def write(card: SimulatedCard, pattern: str, content: bytes) -> None:
    """Give every file of the card that fits ``pattern`` a content."""
    paths = list(card.path_of("").glob(pattern))
    assert paths, pattern
    for path in paths:
        path.unlink()
        path.write_bytes(content)


def only_card(host: SimulatedHost) -> Card:
    (card,) = read_once(host.root)
    return card


@pytest.mark.parametrize("pattern", ATTRIBUTES)
@pytest.mark.parametrize("content", GARBAGE)
def test_a_card_with_a_garbled_attribute_is_listed_and_can_be_told(
    host: SimulatedHost, pattern: str, content: bytes
) -> None:
    write(host.add_card("pac-a10"), pattern, content)
    card = only_card(host)
    assert len(card.regions) == 1
    assert "card cannot be read" not in str(card.health)
    json.dumps(inventory_document([card]), allow_nan=False)
    list_message(members(PoolSettings(), Snapshot((card,), 1, 0.0)))


@pytest.mark.parametrize(
    ("pattern", "status"),
    [
        ("config", HealthStatus.UNHEALTHY),
        ("*/**/compat_id", HealthStatus.UNHEALTHY),
        ("*/**/catfatal_errors", HealthStatus.WARNING),
        ("*/**/dfl-port.*/errors/errors", HealthStatus.WARNING),
        ("*/**/temp*_input", HealthStatus.WARNING),
        ("*/**/afu_id", HealthStatus.WARNING),
    ],
)
def test_what_a_garbled_attribute_would_have_told_is_unknown_and_not_good(
    host: SimulatedHost, pattern: str, status: HealthStatus
) -> None:
    write(host.add_card("pac-a10"), pattern, b"zz\n")
    assert only_card(host).health.status is status


def test_a_card_with_garbled_ports_has_the_region_it_shows(host: SimulatedHost) -> None:
    write(host.add_card("pac-a10"), "*/**/ports_num", b"0xffffffff\n")
    card = only_card(host)
    assert [region.state for region in card.regions] == [RegionState.READY]
    assert any("ports_num" in note for note in card.notes)
