"""The store over simulated cards: faults, hangs, hot-plug, notification."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fpga_common.domain.card import Card, Region, RegionState
from fpga_common.domain.health import HealthStatus
from fpga_common.testing.sim import SimulatedCard, SimulatedHost
from fpga_common.testing.waiting import wait_for
from fpga_plugin.backends.protocol import FoundCard, Reading
from fpga_plugin.inventory.store import InventoryStore

MakeStore = Callable[..., InventoryStore]

PROFILES = ("pac-a10", "n3000", "d5005", "n6000")
OTHER_AFU = "0123456789abcdef0123456789abcdef"


def region_of(store: InventoryStore, card: SimulatedCard) -> Region:
    found = store.snapshot().region(card.region_id)
    assert found is not None
    return found[1]


def status_of(store: InventoryStore, card: SimulatedCard) -> HealthStatus:
    return region_of(store, card).health.status


def wait_for_status(store: InventoryStore, card: SimulatedCard, status: HealthStatus) -> Region:
    wait_for(lambda: status_of(store, card) is status, what=f"{card} {status}")
    return region_of(store, card)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_card_profile_is_one_allocatable_card_after_start(
    host: SimulatedHost, make_store: MakeStore, profile: str
) -> None:
    card = host.add_card(profile, numa_node=1)
    snapshot = make_store().snapshot()
    assert [found.id for found in snapshot.cards] == [card.id]
    assert snapshot.cards[0].numa_node == 1
    region = snapshot.cards[0].regions[0]
    assert region.id == card.region_id
    assert region.state is RegionState.READY
    assert region.interface_id == card.interface_id
    assert region.afu_id == card.afu_id
    assert region.device_nodes == (card.device_node,)
    assert region.control_nodes == (card.control_node,)
    assert region.health.allocatable


def test_functions_of_one_slot_are_one_card_named_by_the_lowest(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    host.add_card("n6000", slot="0000:01:00", numa_node=None)
    (card,) = make_store().snapshot().cards
    assert [str(function.address) for function in card.functions] == [
        f"0000:01:00.{number}" for number in range(5)
    ]
    assert card.pci is card.functions[0]
    assert card.numa_node is None
    assert len(card.regions) == 1


def test_a_host_without_cards_has_an_empty_inventory(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    assert make_store().snapshot().cards == ()


def test_two_cards_of_one_kind_have_their_own_regions_and_nodes(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    first, second = host.add_card("pac-a10"), host.add_card("pac-a10")
    store = make_store()
    assert region_of(store, first).device_nodes == (first.device_node,)
    assert region_of(store, second).device_nodes == (second.device_node,)
    assert first.device_node != second.device_node


def test_an_overheated_card_turns_unhealthy_and_healthy_again(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    card, other = host.add_card("pac-a10"), host.add_card("n3000")
    store = make_store()
    card.overheat()
    region = wait_for_status(store, card, HealthStatus.UNHEALTHY)
    reasons = {reason.check: reason for reason in region.health.reasons}
    assert reasons["temperature_critical"].observed == "100.0 °C"
    assert reasons["temperature_critical"].expected == "below 95.0 °C"
    assert status_of(store, other) is HealthStatus.HEALTHY
    card.heal()
    wait_for_status(store, card, HealthStatus.HEALTHY)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_card_profile_can_overheat(
    host: SimulatedHost, make_store: MakeStore, profile: str
) -> None:
    card = host.add_card(profile)
    store = make_store()
    card.overheat()
    wait_for_status(store, card, HealthStatus.UNHEALTHY)


def test_a_suspected_fault_is_confirmed_before_the_next_regular_reading(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    card = host.add_card("pac-a10")
    store = make_store(interval=6.0)
    card.overheat()
    store.rescan(card.id)
    assert region_of(store, card).health.allocatable
    snapshot = store.wait_for_change(store.snapshot().revision, timeout=5.0)
    assert snapshot.cards[0].health.status is HealthStatus.UNHEALTHY


def test_a_lost_device_node_is_unhealthy_at_the_first_reading(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    card = host.add_card("n3000")
    store = make_store(interval=30.0)
    card.remove_device_node()
    store.rescan(card.id)
    region = region_of(store, card)
    assert region.health.status is HealthStatus.UNHEALTHY
    assert [reason.check for reason in region.health.reasons] == ["device_node"]
    assert region.state is RegionState.READY


def test_a_narrow_link_is_a_warning_and_stays_allocatable(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    card = host.add_card("n3000")
    store = make_store()
    card.lose_link_width()
    region = wait_for_status(store, card, HealthStatus.WARNING)
    assert region.health.allocatable
    (reason,) = region.health.reasons
    assert (reason.check, reason.observed, reason.expected) == (
        "pci_link",
        "8 GT/s ×8",
        "8 GT/s ×16",
    )


def test_an_unreadable_afu_id_is_shown_as_unknown_and_not_as_a_fault(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    card = host.add_card("pac-a10")
    store = make_store()
    card.break_attribute()
    region = wait_for_status(store, card, HealthStatus.WARNING)
    assert region.afu_id is None
    assert region.health.allocatable
    (reason,) = region.health.reasons
    assert (reason.check, reason.observed) == ("afu_id", "unknown")
    assert "afu_id" in reason.message


def test_an_afu_id_of_all_f_is_an_unknown_afu_without_a_reason(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    card = host.add_card("pac-a10")
    card.set_afu_id("f" * 32)
    region = region_of(make_store(), card)
    assert region.afu_id is None
    assert region.health.status is HealthStatus.HEALTHY


def test_an_unreadable_interface_id_makes_the_region_unusable_with_the_reason(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    card, other = host.add_card("n6000"), host.add_card("pac-a10")
    card.break_attribute("compat_id")
    store = make_store()
    region = region_of(store, card)
    assert region.state is RegionState.UNUSABLE
    assert "compat_id" in region.reason
    assert region.health.status is HealthStatus.UNHEALTHY
    assert status_of(store, other) is HealthStatus.HEALTHY


def test_a_hanging_card_is_unhealthy_and_holds_up_no_other(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    hanging, other = host.add_card("pac-a10"), host.add_card("n3000")
    store = make_store()
    hanging.hang_read()
    try:
        region = wait_for_status(store, hanging, HealthStatus.UNHEALTHY)
        assert region.interface_id == hanging.interface_id
        assert "card_readable" in {reason.check for reason in region.health.reasons}
        other.set_afu_id(OTHER_AFU)
        wait_for(lambda: region_of(store, other).afu_id == OTHER_AFU)
        assert status_of(store, other) is HealthStatus.HEALTHY
    finally:
        hanging.heal()
    wait_for_status(store, hanging, HealthStatus.HEALTHY)


def test_a_card_that_hangs_from_the_start_is_listed_with_the_reason(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    hanging, other = host.add_card("pac-a10"), host.add_card("n3000")
    hanging.hang_read()
    try:
        store = make_store()
        cards = {card.id: card for card in store.snapshot().cards}
        assert cards[hanging.id].health.status is HealthStatus.UNHEALTHY
        assert cards[other.id].health.status is HealthStatus.HEALTHY
        store.rescan(hanging.id)
        assert store.snapshot().card(hanging.id) is not None
    finally:
        hanging.heal()
    wait_for(lambda: (card := store.snapshot().card(hanging.id)) and card.health.allocatable)


def test_an_unplugged_card_is_missing_and_returns_to_health(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    card, other = host.add_card("pac-a10"), host.add_card("n3000")
    store = make_store()
    card.unplug()
    region = wait_for_status(store, card, HealthStatus.UNHEALTHY)
    assert region.state is RegionState.MISSING
    assert region.interface_id == card.interface_id
    assert status_of(store, other) is HealthStatus.HEALTHY
    card.replug()
    assert wait_for_status(store, card, HealthStatus.HEALTHY).state is RegionState.READY


def test_an_unplugged_card_is_never_shown_as_anything_but_missing(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    card = host.add_card("n6000")
    store = make_store()
    states: set[RegionState] = set()
    seen = threading.Event()

    def follow() -> None:
        revision = store.snapshot().revision
        while not seen.is_set():
            snapshot = store.wait_for_change(revision, timeout=0.2)
            revision = snapshot.revision
            states.update(region.state for found in snapshot.cards for region in found.regions)

    follower = threading.Thread(target=follow)
    follower.start()
    for _ in range(5):
        card.unplug()
        wait_for(lambda: region_of(store, card).state is RegionState.MISSING)
        card.replug()
        wait_for(lambda: region_of(store, card).state is RegionState.READY)
    seen.set()
    follower.join()
    assert states == {RegionState.MISSING, RegionState.READY}


def test_a_card_that_stays_away_is_no_longer_listed(
    host: SimulatedHost, make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fpga_plugin.inventory.watch.LISTED_WHEN_GONE_SECONDS", 0.1)
    card = host.add_card("pac-a10")
    store = make_store()
    card.unplug()
    wait_for(lambda: store.snapshot().cards == ())


def test_a_card_plugged_in_later_appears(host: SimulatedHost, make_store: MakeStore) -> None:
    store = make_store()
    card = host.add_card("d5005")
    wait_for(lambda: store.snapshot().card(card.id) is not None)
    assert status_of(store, card) is HealthStatus.HEALTHY


def test_rescan_shows_a_new_afu_on_return(host: SimulatedHost, make_store: MakeStore) -> None:
    card = host.add_card("pac-a10")
    store = make_store(interval=30.0)
    card.set_afu_id(OTHER_AFU)
    store.rescan(card.id)
    assert region_of(store, card).afu_id == OTHER_AFU


def test_touch_shows_a_changed_overlay_on_return(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    card = host.add_card("pac-a10")
    reserved: list[str] = []

    def overlay(found: Card) -> Card:
        state = RegionState.RESERVED if reserved else found.regions[0].state
        return replace(found, regions=(replace(found.regions[0], state=state),))

    store = make_store(interval=30.0, overlay=overlay)
    before = store.snapshot()
    reserved.append(card.region_id)
    store.touch()
    assert region_of(store, card).state is RegionState.RESERVED
    assert store.snapshot().revision == before.revision + 1
    store.touch()
    assert store.snapshot().revision == before.revision + 1


def test_sensor_values_alone_make_no_new_revision(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    card = host.add_card("pac-a10")
    store = make_store(interval=30.0)
    before = store.snapshot()
    sensor = next(path for path in host.root.rglob("temp1_input") if not path.is_symlink())
    sensor.write_text("41000\n")
    store.rescan(card.id)
    after = store.snapshot()
    assert after.cards[0].sensors["temperature_celsius"] == 41.0
    assert after.revision == before.revision


def test_waiting_for_a_change_ends_when_the_store_stops(
    host: SimulatedHost, make_store: MakeStore
) -> None:
    host.add_card("pac-a10")
    store = make_store()
    waiter = threading.Thread(
        target=store.wait_for_change, args=(store.snapshot().revision, 60.0), daemon=True
    )
    waiter.start()
    store.stop()
    waiter.join(5.0)
    assert not waiter.is_alive()


class FailingBackend:
    """Raises in discovery and finds one card whose reading raises."""

    name = "failing"

    def __init__(self) -> None:
        self.fails = False

    def discover(self) -> tuple[FoundCard, ...]:
        if self.fails:
            raise RuntimeError("defect")
        return (FoundCard("0000:99:00.0", self.name, ()),)

    def probe(self, found: FoundCard) -> Reading:
        return Reading(Card(found.id, self.name, "model"), ())


def test_a_failing_backend_loses_no_cards(tmp_path: Path) -> None:
    backend = FailingBackend()
    store = InventoryStore([backend], interval_seconds=0.02)
    store.start()
    try:
        backend.fails = True
        for _ in range(3):
            store.rescan("unknown card: discovery runs instead")
        (card,) = store.snapshot().cards
        assert card.health.status is HealthStatus.HEALTHY
    finally:
        store.stop()


class BreakingBackend(FailingBackend):
    """Finds one card whose reading raises what no backend should."""

    def probe(self, found: FoundCard) -> Reading:
        if self.fails:
            raise OverflowError("a defect")
        return super().probe(found)

    def discover(self) -> tuple[FoundCard, ...]:
        return (FoundCard("0000:99:00.0", self.name, ()),)


@pytest.mark.parametrize("fails_at_first", [True, False])
def test_a_reading_that_breaks_makes_its_card_unhealthy_with_the_reason(
    fails_at_first: bool,
) -> None:
    backend = BreakingBackend()
    backend.fails = fails_at_first
    store = InventoryStore([backend], interval_seconds=0.02)
    store.start()
    try:
        backend.fails = True
        store.rescan("0000:99:00.0")
        (card,) = store.snapshot().cards
        assert card.health.status is HealthStatus.UNHEALTHY
        assert [reason.check for reason in card.health.reasons] == ["card_readable"]
        assert "OverflowError: a defect" in card.health.reasons[0].message

        backend.fails = False
        wait_for(lambda: store.snapshot().cards[0].health.status is HealthStatus.HEALTHY)
    finally:
        store.stop()


class HangingBackend:
    """Finds many cards, and no reading of any returns before ``go`` is set."""

    name = "hanging"

    def __init__(self) -> None:
        self.go = threading.Event()

    def discover(self) -> tuple[FoundCard, ...]:
        return tuple(FoundCard(f"0000:{bus:02x}:00.0", self.name, ()) for bus in range(40))

    def probe(self, found: FoundCard) -> Reading:
        self.go.wait(60.0)
        return Reading(Card(found.id, self.name, "model"), ())


def test_the_start_leaves_out_no_card_however_many_hang() -> None:
    backend = HangingBackend()
    store = InventoryStore([backend], interval_seconds=0.05, deadline_seconds=0.2)
    store.start()
    try:
        statuses = [card.health.status for card in store.snapshot().cards]
        assert statuses == [HealthStatus.UNHEALTHY] * 40
    finally:
        backend.go.set()
        store.stop()
