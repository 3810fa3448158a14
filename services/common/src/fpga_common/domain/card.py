"""Cards, functions and regions of one node: what discovery finds, as values."""

from dataclasses import dataclass, field
from enum import StrEnum

from fpga_common.domain.health import HealthStatus, Verdict
from fpga_common.domain.ids import PciAddress


class RegionState(StrEnum):
    """What may be done with a region; the reason stands beside it.

    ready: may be handed out and programmed. reserved: programming or cordoned, not a fault.
    quarantined: a programming failed or read back something else; left by a successful load or an
    administrator's clear. static: cannot be programmed, may be handed out. unusable: cannot be
    handed out. missing: known, but not there now.
    """

    READY = "ready"
    RESERVED = "reserved"
    QUARANTINED = "quarantined"
    STATIC = "static"
    UNUSABLE = "unusable"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class PciLink:
    """A PCI Express link: speeds in GT/s, widths in lanes; ``None`` where not readable."""

    current_speed: float | None = None
    max_speed: float | None = None
    current_width: int | None = None
    max_width: int | None = None


@dataclass(frozen=True, slots=True)
class PciFunction:
    """One PCI function; ids are four lower-case hex digits, the class six."""

    address: PciAddress
    vendor: str
    device: str
    subsystem_vendor: str | None = None
    subsystem_device: str | None = None
    pci_class: str | None = None
    driver: str | None = None
    numa_node: int | None = None
    link: PciLink = field(default_factory=PciLink)
    physical_function: PciAddress | None = None


@dataclass(frozen=True, slots=True)
class Region:
    """The part of a card that takes one AFU.

    ``device_nodes`` are what a container gets; ``control_nodes`` program it and are never handed
    out. Paths are the host's, without any host root. ``index`` is the hardware's port number.
    """

    id: str
    index: int
    state: RegionState
    reason: str = ""
    interface_id: str | None = None
    afu_id: str | None = None
    device_nodes: tuple[str, ...] = ()
    control_nodes: tuple[str, ...] = ()
    health: Verdict = field(default_factory=lambda: Verdict(HealthStatus.UNKNOWN, 0.0))


@dataclass(frozen=True, slots=True)
class Card:
    """A physical FPGA. ``notes`` are sentences about attributes that could not be read.

    ``versions`` maps a name (``shell``, ``bmc``) to text, ``sensors`` a name with its unit
    (``temperature_celsius``, ``power_watts``) to a value.
    """

    id: str
    backend: str
    model: str
    functions: tuple[PciFunction, ...] = ()
    virtual_functions: tuple[PciFunction, ...] = ()
    regions: tuple[Region, ...] = ()
    health: Verdict = field(default_factory=lambda: Verdict(HealthStatus.UNKNOWN, 0.0))
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    sensors: dict[str, float] = field(default_factory=dict)

    @property
    def pci(self) -> PciFunction | None:
        """The function that names the card: the one with its id."""
        return self.functions[0] if self.functions else None

    @property
    def numa_node(self) -> int | None:
        """The NUMA node the card is attached to, ``None`` where the machine does not say."""
        return self.pci.numa_node if self.pci else None
