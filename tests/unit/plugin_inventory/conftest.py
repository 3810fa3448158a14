"""Simulated hosts and stores that read them often."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fpga_common.testing.sim import SimulatedHost
from fpga_plugin.backends import default_backends
from fpga_plugin.inventory.snapshot import Overlay, unchanged
from fpga_plugin.inventory.store import InventoryStore

MakeStore = Callable[..., InventoryStore]


@pytest.fixture
def host(tmp_path: Path) -> SimulatedHost:
    """A simulated host without cards."""
    return SimulatedHost(tmp_path / "host")


@pytest.fixture
def make_store(host: SimulatedHost) -> Iterator[MakeStore]:
    """Starts stores over the host and stops them in the end."""
    started: list[InventoryStore] = []

    def start(
        *, interval: float = 0.05, deadline: float = 0.5, overlay: Overlay = unchanged
    ) -> InventoryStore:
        store = InventoryStore(
            default_backends(host.root),
            interval_seconds=interval,
            deadline_seconds=deadline,
            overlay=overlay,
        )
        started.append(store)
        store.start()
        return store

    yield start
    for store in started:
        store.stop()
