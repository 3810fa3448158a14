"""Takes a region from the kubelet, has it written, and gives it back once it is verified.

Reserve, drain, open exclusively, write, read back, release. Before the write every failure leaves
the region as it was; after it the region comes back verified or is quarantined. Called by
``agent.programming`` in the operation's thread.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from fpga_common.domain.card import Card, Region
from fpga_common.domain.operation import FailureCode, Phase
from fpga_plugin.agent.draining import Drain
from fpga_plugin.agent.operation import Operation
from fpga_plugin.agent.ports import Inventory
from fpga_plugin.agent.reservations import Reservations
from fpga_plugin.agent.verifying import read_back
from fpga_plugin.failures import OperationFailed, operation_failed
from fpga_plugin.programmers.protocol import ExclusiveRegion, Image, Programmer

WRITE_SECONDS: Final = 300.0
"""Longest write: a DFL driver gives each of its phases about 8 s, a simulated card what it says."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is programmed with what."""

    card: Card
    region: Region
    programmer: Programmer
    image: Image


class Handover:
    """The only place that takes regions away from pods and gives them back."""

    def __init__(self, inventory: Inventory, reservations: Reservations, drain: Drain) -> None:
        self._inventory = inventory
        self._reservations = reservations
        self._drain = drain

    def program(self, operation: Operation, target: Target) -> str:
        """Carry out the handover and return the AFU id that was read back.

        Raises OperationFailed; the region is then as before, or quarantined.
        """
        operation.enter(Phase.DRAINING, f"waiting until nobody holds {target.region.id}")
        self._drain.require_unheld(operation)
        with self._reserved(operation):
            self._drain.wait_until_free(operation)
            with target.programmer.open_exclusively(target.card, target.region) as exclusive:
                operation.begin_write(f"writing to {target.region.id}")
                with self._quarantined_on_failure(target.region.id):
                    self._write(operation, exclusive, target)
                    afu_id = self._verify(operation, target)
            self._reservations.clear(target.region.id)
        return afu_id

    def _write(self, operation: Operation, exclusive: ExclusiveRegion, target: Target) -> None:
        exclusive.write(target.image, operation.progress, deadline=time.monotonic() + WRITE_SECONDS)

    def _verify(self, operation: Operation, target: Target) -> str:
        operation.enter(Phase.VERIFYING, f"reading back the AFU of {target.region.id}")
        expected = target.image.info.afu_id
        if expected is None:
            raise operation_failed(
                FailureCode.VERIFICATION_MISMATCH, "the bitstream names no AFU to verify"
            )
        return read_back(self._inventory, target.card.id, target.region.id, expected)

    @contextmanager
    def _reserved(self, operation: Operation) -> Iterator[None]:
        region_id = operation.request.region_id
        self._reservations.reserve_for_programming(region_id, operation.request.operation_id)
        try:
            self._inventory.touch()
            yield
        finally:
            self._reservations.release(region_id)
            self._inventory.touch()

    @contextmanager
    def _quarantined_on_failure(self, region_id: str) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self._reservations.quarantine(region_id, _why(error))
            raise


def _why(error: BaseException) -> str:
    if isinstance(error, OperationFailed):
        return f"{error.failure.code}: {error.message}"
    return f"{FailureCode.INTERNAL}: {type(error).__name__}: {error}"
