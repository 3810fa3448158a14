"""The current devices of a pool: what counts as news, and what an old snapshot may not undo."""

from fpga_common.domain.card import Card, RegionState
from fpga_plugin.inventory.snapshot import Snapshot
from fpga_plugin.kubelet.pool_state import PoolState
from fpga_plugin.settings import PoolSettings
from support.plugin_cards import make_card

FIRST, SECOND = "0000:01:00.0-r0", "0000:02:00.0-r0"


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def snapshot(revision: int, *cards: Card) -> Snapshot:
    return Snapshot(cards, revision, 0.0)


def never() -> bool:
    return False


def test_the_first_listing_is_news_even_when_it_is_empty() -> None:
    state = PoolState(PoolSettings())
    state.refresh(snapshot(1))
    listing = state.wait_newer(-1, never, timeout=0)
    assert listing is not None
    assert listing.devices == ()


def test_what_the_kubelet_does_not_see_is_no_news_but_is_current() -> None:
    state = PoolState(PoolSettings())
    state.refresh(snapshot(1, make_card(1)))
    version = state.listing.version
    state.refresh(snapshot(2, make_card(1, afu_id=None)))
    assert state.wait_newer(version, never, timeout=0) is None
    device = state.device(FIRST)
    assert device is not None
    assert device.region.afu_id is None


def test_an_older_snapshot_undoes_nothing() -> None:
    state = PoolState(PoolSettings())
    state.refresh(snapshot(5, make_card(1, state=RegionState.RESERVED)))
    state.refresh(snapshot(4, make_card(1)))
    assert not state.listing.devices[0].healthy


def test_a_vanished_device_leaves_the_list_without_a_new_revision() -> None:
    clock = Clock()
    state = PoolState(PoolSettings(), clock=clock)
    state.refresh(snapshot(1, make_card(1), make_card(2)))
    clock.now = 1000.0
    state.refresh(snapshot(2, make_card(1)))
    assert [device.healthy for device in state.listing.devices] == [True, False]
    clock.now = 1011.0
    state.refresh(snapshot(2, make_card(1)))
    assert [device.id for device in state.listing.devices] == [FIRST]
    assert state.device(SECOND) is None


def test_a_stream_that_has_ended_gets_nothing() -> None:
    state = PoolState(PoolSettings())
    state.refresh(snapshot(1, make_card(1)))
    assert state.wait_newer(-1, lambda: True, timeout=0) is None
