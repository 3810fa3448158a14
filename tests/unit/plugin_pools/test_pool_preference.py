"""Preferred allocation: one NUMA node first, then used cards; rules that hold for any request."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fpga_plugin.inventory.snapshot import Snapshot
from fpga_plugin.pools import PoolDevice, members, preferred
from fpga_plugin.settings import PoolSettings
from support.plugin_cards import make_card

Shape = list[tuple[int, int | None]]


def pool(shape: Shape) -> tuple[PoolDevice, ...]:
    """A pool of cards, each with a number of regions and a NUMA node."""
    cards = tuple(
        make_card(bus, regions=regions, numa_node=node)
        for bus, (regions, node) in enumerate(shape, start=1)
    )
    return members(PoolSettings(), Snapshot(cards, 1, 0.0))


def name(bus: int, region: int = 0) -> str:
    return f"0000:{bus:02x}:00.0-r{region}"


def everything(devices: tuple[PoolDevice, ...]) -> list[str]:
    return [device.id for device in devices]


def test_all_come_from_one_numa_node_where_one_suffices() -> None:
    devices = pool([(1, 0), (1, 1), (1, 0), (1, 1)])
    assert preferred(devices, [name(1), name(2), name(4)], [], 2) == [name(2), name(4)]


def test_the_numa_node_of_what_is_included_already_comes_first() -> None:
    devices = pool([(1, 0), (1, 0), (1, 0), (1, 1), (1, 1)])
    assert preferred(devices, everything(devices), [name(5)], 2) == [name(5), name(4)]


def test_where_no_node_suffices_the_largest_is_emptied_first() -> None:
    devices = pool([(1, 0), (1, 1), (1, 1)])
    assert preferred(devices, everything(devices), [], 3) == [name(2), name(3), name(1)]


def test_a_card_that_is_used_already_is_filled_before_a_free_one() -> None:
    devices = pool([(2, 0), (2, 0), (2, 0)])
    available = [id_ for id_ in everything(devices) if id_ != name(2, 1)]
    assert preferred(devices, available, [], 1) == [name(2, 0)]


def test_of_two_used_cards_the_one_with_less_left_is_filled() -> None:
    devices = pool([(4, 0), (4, 0)])
    taken = {name(1, 0), name(2, 0), name(2, 1)}
    available = [id_ for id_ in everything(devices) if id_ not in taken]
    assert preferred(devices, available, [], 2) == [name(2, 2), name(2, 3)]


def test_a_known_numa_node_comes_before_an_unknown_one() -> None:
    devices = pool([(1, None), (1, 0)])
    assert preferred(devices, everything(devices), [], 1) == [name(2)]


def test_ids_that_are_not_in_the_pool_come_last() -> None:
    devices = pool([(1, 0)])
    assert preferred(devices, ["a-stranger", name(1)], [], 2) == [name(1), "a-stranger"]


shapes = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from([None, -1, 0, 1])), min_size=1, max_size=8
)


@given(shape=shapes, data=st.data())
def test_any_answer_is_exact_and_made_of_what_is_available(
    shape: Shape, data: st.DataObject
) -> None:
    devices = pool(shape)
    ids = everything(devices)
    available = data.draw(st.lists(st.sampled_from(ids), unique=True, min_size=1))
    size = data.draw(st.integers(1, len(available)))
    must = data.draw(st.lists(st.sampled_from(available), unique=True, max_size=size))
    answer = preferred(devices, available, must, size)
    assert len(answer) == len(set(answer)) == size
    assert set(must) <= set(answer) <= set(available)
    shuffled = random.sample(available, len(available))
    assert preferred(devices, shuffled, must, size) == answer


known_nodes = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from([0, 1, 2])), min_size=1, max_size=8
)


@given(shape=known_nodes, size=st.integers(1, 8))
def test_devices_of_two_nodes_are_mixed_only_where_no_node_suffices(
    shape: Shape, size: int
) -> None:
    devices = pool(shape)
    answer = preferred(devices, everything(devices), [], size)
    by_id = {device.id: device.numa_node for device in devices}
    counts = [list(by_id.values()).count(node) for node in set(by_id.values())]
    if max(counts) >= len(answer):
        assert len({by_id[id_] for id_ in answer}) == 1


@pytest.mark.timeout(20)
def test_64_of_512_devices_are_chosen_without_a_search() -> None:
    devices = pool([(4, bus % 8) for bus in range(128)])
    started = time.process_time()
    for _ in range(20):
        assert len(preferred(devices, everything(devices), [], 64)) == 64
    assert time.process_time() - started < 10
