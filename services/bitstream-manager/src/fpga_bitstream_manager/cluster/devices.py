"""A device as the cluster shall hear of it: a value, made from the ledger by the reconciler."""

from dataclasses import dataclass

from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus


@dataclass(frozen=True, slots=True)
class ReportedDevice:
    """One device of a node. ``cause`` says why it is not healthy or not there, empty otherwise."""

    id: str
    card: str
    model: str
    interface_id: str | None
    state: RegionState
    health: HealthStatus
    cause: str = ""

    @property
    def missing(self) -> bool:
        """Whether it is known, but not there now."""
        return self.state is RegionState.MISSING
