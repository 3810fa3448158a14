"""The inventory document (see ``fpga_common.domain.documents``) as models."""

from typing import Annotated

from pydantic import Field

from fpga_common.contract.base import Answer, DeviceId, EpochSeconds
from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus, Severity

#: What Linux can name; -1 is its word for unknown.
NumaNode = Annotated[int, Field(ge=-1, lt=2**31)]


class ReasonDocument(Answer):
    """Why a verdict is not healthy; ``since`` in seconds since the epoch."""

    check: str
    severity: Severity
    message: str
    since: EpochSeconds
    observed: str | None = None
    expected: str | None = None


class VerdictDocument(Answer):
    """Health with reasons."""

    status: HealthStatus
    since: EpochSeconds
    reasons: list[ReasonDocument] = Field(default_factory=list)


class LinkDocument(Answer):
    """A PCI Express link: GT/s and lanes."""

    current_speed: float | None = None
    max_speed: float | None = None
    current_width: int | None = None
    max_width: int | None = None


class FunctionDocument(Answer):
    """One PCI function."""

    address: str
    vendor: str
    device: str
    subsystem_vendor: str | None = None
    subsystem_device: str | None = None
    pci_class: str | None = Field(default=None, alias="class")
    driver: str | None = None
    numa_node: NumaNode | None = None
    link: LinkDocument = Field(default_factory=LinkDocument)
    physical_function: str | None = None


class RegionDocument(Answer):
    """One region."""

    id: DeviceId
    interface_id: str | None = None
    afu_id: str | None = None
    state: RegionState
    reason: str = ""
    device_nodes: list[str] = Field(default_factory=list)
    health: VerdictDocument


class CardDocument(Answer):
    """One card."""

    id: DeviceId
    backend: str = Field(max_length=32)
    model: str
    pci: FunctionDocument | None = None
    numa_node: NumaNode | None = None
    health: VerdictDocument
    regions: list[RegionDocument] = Field(default_factory=list)
    functions: list[FunctionDocument] = Field(default_factory=list)
    vfs: list[FunctionDocument] = Field(default_factory=list)
    versions: dict[str, str] = Field(default_factory=dict)
    sensors: dict[str, float] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)


class InventoryDocument(Answer):
    """Every card of a node."""

    cards: list[CardDocument] = Field(default_factory=list)
