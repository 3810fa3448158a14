"""The rules of holding, as data: what adds a holder, what removes one, and what never does."""

from dataclasses import replace

import pytest

from fpga_plugin.kubelet.holding import Hold, PodContainer, PodListing, holder_of, settle
from fpga_plugin.kubelet.sockets import SocketIdentity

ONE, TWO = SocketIdentity(1, 1, 1), SocketIdentity(1, 2, 2)
POD = PodContainer("team", "one", "main", "example.com/fpga")
FRESH = Hold("d", POD.resource, since=1.0, allocated_at=100.0, unseen_since=100.0)
SHOWN = replace(FRESH, unseen_since=None, shown_by=ONE, holder=POD)


def listed(asked_at: float, *, kubelet: SocketIdentity = ONE) -> PodListing:
    return PodListing(asked_at, kubelet, {"d": POD})


def empty(asked_at: float, *, kubelet: SocketIdentity = ONE) -> PodListing:
    return PodListing(asked_at, kubelet)


def after(hold: Hold, *listings: PodListing) -> Hold | None:
    holds = {"d": hold}
    for listing in listings:
        holds = settle(holds, listing, now_epoch=9.0)
    return holds.get("d")


def test_a_fresh_allocation_that_is_shown_gets_its_pods_name() -> None:
    hold = after(FRESH, listed(101))
    assert hold == SHOWN
    assert holder_of(SHOWN).source == "podresources"
    assert holder_of(SHOWN).pod == "one"


def test_what_was_shown_and_is_dropped_is_free() -> None:
    assert after(SHOWN, empty(101)) is None


def test_what_was_never_shown_stays_held_for_two_minutes() -> None:
    assert after(FRESH, empty(101), empty(219.9)) is not None
    assert after(FRESH, empty(101), empty(220)) is None


def test_time_without_an_answer_frees_nothing() -> None:
    assert after(FRESH) == FRESH


def test_a_list_asked_for_before_the_allocation_says_nothing_about_it() -> None:
    assert after(FRESH, listed(99), empty(100)) == FRESH


@pytest.mark.parametrize("later", [102.0, 221.9])
def test_a_restarted_kubelet_that_shows_nothing_yet_frees_nothing(later: float) -> None:
    hold = after(SHOWN, empty(102, kubelet=TWO), empty(later, kubelet=TWO))
    assert hold is not None
    assert (holder_of(hold).source, holder_of(hold).pod) == ("journal", "one")


def test_a_restarted_kubelet_that_never_shows_it_frees_it_after_two_minutes() -> None:
    assert after(SHOWN, empty(102, kubelet=TWO), empty(222, kubelet=TWO)) is None


def test_a_restarted_kubelet_that_shows_it_again_may_drop_it() -> None:
    later = (empty(102, kubelet=TWO), listed(103, kubelet=TWO))
    assert after(SHOWN, *later) == replace(SHOWN, shown_by=TWO)
    assert after(SHOWN, *later, empty(104, kubelet=TWO)) is None


def test_a_pod_that_nobody_wrote_down_is_a_holder() -> None:
    hold = settle({}, listed(5), now_epoch=9.0)["d"]
    assert (hold.holder, hold.since, hold.resource) == (POD, 9.0, POD.resource)


def test_a_device_allocated_anew_is_not_freed_by_its_former_pods_end() -> None:
    anew = replace(FRESH, allocated_at=200.0, unseen_since=200.0)
    assert after(anew, empty(200), empty(201)) == anew
