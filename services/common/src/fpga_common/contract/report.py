"""What a node tells the manager: ``PUT /internal/v1/nodes/{node}/report``."""

from typing import Literal

from pydantic import Field

from fpga_common.contract.base import Answer, DeviceId, NodeName, Timestamp
from fpga_common.contract.inventory import InventoryDocument


class AgentEndpoint(Answer):
    """Where the node's agent answers, and the certificate to pin."""

    address: str
    certificate_pem: str


class Holder(Answer):
    """Who holds a device.

    ``source``: ``podresources`` (the kubelet shows it), ``journal`` (allocated, not shown yet) or
    ``open`` (a process outside Kubernetes has it open).
    """

    device: DeviceId
    source: Literal["podresources", "journal", "open"]
    namespace: str | None = None
    pod: str | None = None
    container: str | None = None
    resource: str | None = None
    since: Timestamp


class PoolReport(Answer):
    """One extended resource of the node as the plugin serves it."""

    resource: str
    devices: list[str] = Field(default_factory=list)
    healthy: int = 0
    registered: bool = False
    registration_error: str | None = None


class NodeFacts(Answer):
    """What a node says of itself besides its cards."""

    kernel: str | None = None
    boot_id: str | None = None
    plugin_version: str | None = None
    drivers: list[str] = Field(default_factory=list)


class NodeReport(Answer):
    """A full report.

    ``digest`` is a SHA-256 of everything but ``reported_at``, sensor values and itself.
    """

    node: NodeName
    digest: str = Field(max_length=128)
    reported_at: Timestamp
    agent: AgentEndpoint | None = None
    facts: NodeFacts = Field(default_factory=NodeFacts)
    inventory: InventoryDocument = Field(default_factory=InventoryDocument)
    holders: list[Holder] = Field(default_factory=list)
    pools: list[PoolReport] = Field(default_factory=list)


class NodeHeartbeat(Answer):
    """What a node sends instead while its report is unchanged.

    ``sensors`` are the newest values by card id and sensor; the digest leaves them out.
    """

    node: NodeName
    digest: str = Field(max_length=128)
    reported_at: Timestamp
    sensors: dict[str, dict[str, float]] = Field(default_factory=dict)


class ReportAnswer(Answer):
    """The manager's answer; ``full_report_wanted`` when it does not know the digest."""

    accepted: bool = True
    full_report_wanted: bool = False
    cordoned: list[str] = Field(default_factory=list)
