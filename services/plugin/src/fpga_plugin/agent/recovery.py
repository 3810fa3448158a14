"""What a start does with operations that the last process left without an end.

Called once by the composition root before anything is served.
"""

from typing import Final

from fpga_common.domain.operation import Failure, FailureCode, Phase
from fpga_common.observability.logging import get_logger
from fpga_plugin.agent.journal import Journal, StoredOperation
from fpga_plugin.agent.operation import Operation
from fpga_plugin.agent.reservations import Reservations

WRITTEN_TO: Final = frozenset({Phase.PROGRAMMING, Phase.VERIFYING})
"""Phases after which nobody knows what is in the region."""

log = get_logger(__name__)


def settle_interrupted(journal: Journal, reservations: Reservations) -> tuple[str, ...]:
    """End every operation without an end as interrupted; returns the ids.

    A region that was being written to, or may have been, is quarantined before the end is recorded,
    so that dying here too changes nothing.
    """
    settled = tuple(_settle(operation, journal, reservations) for operation in journal.unended())
    for region_id, operation_id in reservations.reserved().programming.items():
        stored = journal.find(operation_id)
        if stored is None or stored.damaged:
            reason = f"interrupted: operation {operation_id} left no record of how far it came"
            reservations.quarantine(region_id, reason)
        reservations.release(region_id)
    return settled


def _settle(operation: StoredOperation, journal: Journal, reservations: Reservations) -> str:
    request, phase = operation.request, operation.last.phase
    if operation.damaged:
        return request.operation_id
    message = f"the node plugin ended while the operation was {phase}"
    if phase in WRITTEN_TO:
        reservations.quarantine(request.region_id, f"interrupted: {message}")
    resumed = Operation(request, journal.resume(operation), operation.events)
    resumed.fail(Failure(FailureCode.INTERRUPTED, message))
    log.warning(
        "operation_interrupted",
        operation_id=request.operation_id,
        region=request.region_id,
        phase=phase.value,
        quarantined=phase in WRITTEN_TO,
    )
    return request.operation_id
