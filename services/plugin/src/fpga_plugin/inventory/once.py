"""The inventory of a host root, read once: what ``fpga-plugin inventory`` prints."""

from pathlib import Path
from typing import Final

from fpga_common.domain.card import Card
from fpga_plugin.backends import default_backends
from fpga_plugin.inventory.store import InventoryStore

NEVER_AGAIN_SECONDS: Final = 3600.0


def read_once(host_root: Path, *, deadline_seconds: float = 2.0) -> tuple[Card, ...]:
    """Every card below ``host_root``, sorted by id; takes at most three deadlines."""
    store = InventoryStore(
        default_backends(host_root),
        interval_seconds=NEVER_AGAIN_SECONDS,
        deadline_seconds=deadline_seconds,
    )
    store.start()
    try:
        return store.snapshot().cards
    finally:
        store.stop()
