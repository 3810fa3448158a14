"""Loads, targets and bitstreams as the manager's own values. Times are aware and in UTC."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from fpga_common.domain.load import IfBusy, LoadState, Priority
from fpga_common.domain.operation import Failure, Phase

#: States in which an attempt is under way on a node: at most one a card.
IN_FLIGHT: Final = frozenset(
    {LoadState.CLAIMED, LoadState.PROGRAMMING, LoadState.VERIFYING, LoadState.CANCELLING}
)

#: Lower goes first.
RANK: Final = {Priority.INTERACTIVE: 0, Priority.NORMAL: 1, Priority.BACKGROUND: 2}


@dataclass(frozen=True, slots=True)
class BitstreamFacts:
    """What a load needs to know of its bitstream. Size in bytes."""

    digest: str
    name: str
    version: str | None
    format: str
    size_bytes: int
    interface_id: str | None
    afu_id: str | None


@dataclass(frozen=True, slots=True)
class TargetHolder:
    """Who holds a device: a pod, or with ``source`` "open" a process outside Kubernetes."""

    source: str
    namespace: str | None = None
    pod: str | None = None

    @property
    def words(self) -> str:
        """The holder as a person reads it."""
        if self.pod:
            return f"pod {self.namespace}/{self.pod}"
        return "a process outside Kubernetes" if self.source == "open" else "an unnamed pod"


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What the ledger knows of a region. It may be behind the node, which decides in the end."""

    node: str
    device: str
    card: str
    interface_id: str | None
    afu_id: str | None
    state: str
    reason: str
    stale: bool
    agent_address: str | None
    agent_certificate: str | None
    holder: TargetHolder | None = None


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What a caller asks for, with everything resolved. ``deadline_seconds`` from now."""

    bitstream: BitstreamFacts
    target: TargetFacts
    requested_by: str
    if_busy: IfBusy = IfBusy.WAIT
    priority: Priority = Priority.NORMAL
    deadline_seconds: float = 3600.0
    persist: bool = True
    force: bool = False
    labels: dict[str, str] = field(default_factory=dict)
    retry_of: str | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A claimed try of a load: the pair that fences every later write."""

    load_id: str
    number: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """Everything that a claimed attempt needs to run."""

    attempt: Attempt
    node: str
    device: str
    card: str
    bitstream: BitstreamFacts
    force: bool
    if_busy: IfBusy
    requested_by: str
    deadline_at: datetime


@dataclass(frozen=True, slots=True)
class Progress:
    """One message of the agent. ``percent`` is 0 to 100 of the whole operation."""

    phase: Phase
    percent: float
    message: str


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The operation ended well; ``afu_id`` was read back from the card."""

    afu_id: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The operation ended with a failure."""

    failure: Failure


OperationEnd = Succeeded | Failed
