"""Which regions a pool offers, and which of them healthy."""

import pytest

from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus, Reason, Severity, Verdict
from fpga_plugin.inventory.snapshot import Snapshot
from fpga_plugin.pools import members
from fpga_plugin.settings import PoolSettings
from support.plugin_cards import make_card

POOL = PoolSettings()


def offered(state: RegionState, health: HealthStatus = HealthStatus.HEALTHY) -> dict[str, bool]:
    card = make_card(1, state=state, health=health)
    return {device.id: device.healthy for device in members(POOL, Snapshot((card,), 1, 0.0))}


@pytest.mark.parametrize("state", [RegionState.READY, RegionState.STATIC])
def test_a_region_that_may_be_handed_out_is_healthy(state: RegionState) -> None:
    assert list(offered(state).values()) == [True]


@pytest.mark.parametrize("state", [RegionState.RESERVED, RegionState.QUARANTINED])
def test_a_reserved_or_quarantined_region_is_listed_unhealthy(state: RegionState) -> None:
    assert list(offered(state).values()) == [False]


@pytest.mark.parametrize("state", [RegionState.UNUSABLE, RegionState.MISSING])
def test_an_unusable_or_missing_region_is_not_listed(state: RegionState) -> None:
    assert offered(state) == {}


@pytest.mark.parametrize(
    ("health", "healthy"),
    [
        (HealthStatus.HEALTHY, True),
        (HealthStatus.WARNING, True),
        (HealthStatus.UNKNOWN, False),
        (HealthStatus.UNHEALTHY, False),
    ],
)
def test_only_allocatable_health_is_healthy(health: HealthStatus, healthy: bool) -> None:
    assert list(offered(RegionState.READY, health).values()) == [healthy]


def test_devices_are_sorted_and_carry_what_a_container_needs() -> None:
    cards = (make_card(2, numa_node=1), make_card(1, numa_node=0))
    devices = members(POOL, Snapshot(cards, 1, 0.0))
    assert [device.id for device in devices] == ["0000:01:00.0-r0", "0000:02:00.0-r0"]
    assert [device.numa_node for device in devices] == [0, 1]
    assert devices[0].device_nodes == ("/dev/dfl-port.1",)


def test_a_region_is_in_the_first_pool_that_wants_it_and_in_no_other() -> None:
    snapshot = Snapshot((make_card(1, regions=2),), 1, 0.0)
    second, third = PoolSettings(name="second"), PoolSettings(name="third")
    assert len(members(POOL, snapshot)) == 2
    assert members(second, snapshot, [POOL]) == ()
    assert members(third, snapshot, [POOL, second]) == ()


def test_why_a_device_is_unhealthy_is_told_by_state_or_by_health() -> None:
    verdict = Verdict(
        HealthStatus.UNHEALTHY,
        0.0,
        (Reason("temperature", Severity.FATAL, "101 °C, limit 100 °C", 0.0),),
    )
    hot = make_card(1, verdict=verdict)
    reserved = make_card(2, state=RegionState.RESERVED, reason="programming: operation x.1")
    devices = members(POOL, Snapshot((hot, reserved), 1, 0.0))
    assert [device.why_unhealthy for device in devices] == [
        "101 °C, limit 100 °C",
        "reserved: programming: operation x.1",
    ]
