"""The plan of what is read: made once, and anew when it no longer fits."""

from pathlib import Path

import pytest

from fpga_common.domain.card import Card
from fpga_common.testing.sim import SimulatedHost
from fpga_plugin.backends.intel import PLAN_SECONDS, IntelBackend
from fpga_plugin.backends.intel_layout import DFL
from fpga_plugin.host.root import HostRoot


class CountingRoot(HostRoot):
    """Counts searches."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.searches = 0

    def files_below(self, folder: str, *, depth: int) -> tuple[str, ...]:
        self.searches += 1
        return super().files_below(folder, depth=depth)


class Reader:
    """Discovers and reads the only card; ``now`` is its clock in seconds."""

    def __init__(self, host: SimulatedHost) -> None:
        self.now = 0.0
        self.root = CountingRoot(host.root)
        self.backend = IntelBackend(self.root, DFL, clock=lambda: self.now)

    def read(self) -> Card:
        (found,) = self.backend.discover()
        return self.backend.probe(found).card

    @property
    def searches(self) -> int:
        return self.root.searches


@pytest.fixture
def reader(host: SimulatedHost) -> Reader:
    host.add_card("n3000")
    return Reader(host)


def test_a_card_is_searched_once_for_many_readings(reader: Reader) -> None:
    assert reader.read() == reader.read() == reader.read()
    assert reader.searches == 1


def test_an_old_plan_is_made_anew_and_finds_late_sensors(
    reader: Reader, host: SimulatedHost
) -> None:
    reader.read()
    (hwmon,) = (path.parent for path in host.root.glob("sys/devices/**/hwmon*/temp1_label"))
    (hwmon / "temp9_label").write_text("FPGA late\n")
    (hwmon / "temp9_input").write_text("70000\n")
    assert reader.read().sensors["temperature_celsius"] == 50.0
    reader.now = PLAN_SECONDS + 1
    assert reader.read().sensors["temperature_celsius"] == 70.0


def test_a_card_that_was_away_is_searched_again(reader: Reader, host: SimulatedHost) -> None:
    reader.read()
    (card,) = host.cards
    card.unplug()
    assert reader.backend.discover() == ()
    card.replug()
    reader.read()
    assert reader.searches == 2


def test_a_vanished_attribute_makes_the_next_reading_search(
    reader: Reader, host: SimulatedHost
) -> None:
    (card,) = host.cards
    reader.read()
    card.path_of("compat_id").unlink()
    assert reader.read().regions[0].interface_id is None
    reader.read()
    assert reader.searches == 2


def test_an_afu_id_that_comes_and_goes_is_read_without_a_search(
    reader: Reader, host: SimulatedHost
) -> None:
    (card,) = host.cards
    path = card.path_of("afu_id")
    text = path.read_text()
    path.unlink()
    assert reader.read().regions[0].afu_id is None
    path.write_text(text)
    assert reader.read().regions[0].afu_id == text.strip().lower()
    assert reader.searches == 1


def test_nested_regions_and_class_entries_of_others_are_no_cards(
    reader: Reader, host: SimulatedHost
) -> None:
    (host.root / "sys/class/fpga_region/region99").symlink_to("../../devices/platform/region99")
    (host.root / "sys/class/fpga_region/region98").symlink_to("region98")
    assert len(reader.backend.discover()) == 1
