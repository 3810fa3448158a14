"""Reads back which AFU a region shows after a write. Called by ``agent.handover``."""

import time
from typing import Final

from fpga_common.domain.card import RegionState
from fpga_common.domain.operation import FailureCode
from fpga_plugin.agent.ports import Inventory
from fpga_plugin.failures import OperationFailed, operation_failed
from fpga_plugin.health.checks import CheckName

VERIFY_SECONDS: Final = 8.0
"""A port answers EBUSY while it leaves reset; a card that says nothing for longer is at fault."""

_PAUSE_SECONDS: Final = 0.1
_UNREAD: Final = frozenset({CheckName.CARD_PRESENT.value, CheckName.CARD_READABLE.value})


def read_back(
    inventory: Inventory,
    card_id: str,
    region_id: str,
    expected: str,
    *,
    seconds: float = VERIFY_SECONDS,
) -> str:
    """Return the AFU id once a fresh reading shows ``expected``.

    A different id counts when two readings in a row show it. Raises OperationFailed:
    verification_mismatch, card_missing.
    """
    deadline = time.monotonic() + seconds
    before: str | None = None
    while True:
        inventory.rescan(card_id)
        shown = _shown(inventory, region_id)
        if shown == expected:
            return shown
        if time.monotonic() >= deadline or (shown is not None and shown == before):
            raise _mismatch(inventory, region_id, expected, shown)
        before = shown
        time.sleep(_PAUSE_SECONDS)


def _shown(inventory: Inventory, region_id: str) -> str | None:
    found = inventory.snapshot().region(region_id)
    if found is None:
        return None
    card, region = found
    # A card that cannot be read shows what it showed before the write.
    read = _UNREAD.isdisjoint(reason.check for reason in card.health.reasons)
    return region.afu_id if read and region.state is not RegionState.MISSING else None


def _mismatch(
    inventory: Inventory, region_id: str, expected: str, shown: str | None
) -> OperationFailed:
    found = inventory.snapshot().region(region_id)
    if found is None or found[1].state is RegionState.MISSING:
        return operation_failed(
            FailureCode.CARD_MISSING, f"{region_id} is gone after the write", expected=expected
        )
    return operation_failed(
        FailureCode.VERIFICATION_MISMATCH,
        f"{region_id} shows AFU {shown or 'unknown'} after the write",
        expected=expected,
        actual=shown or "unknown",
    )
