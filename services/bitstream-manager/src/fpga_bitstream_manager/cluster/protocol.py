"""What the manager asks of a cluster, as values. FakeCluster passes the same contract tests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from fpga_common.domain.errors import Permanent, Temporary


class ClusterUnavailable(Temporary):
    """The Kubernetes API does not answer, or asks to come back later."""

    code = "cluster_unavailable"


class ClusterRefused(Permanent):
    """The Kubernetes API refuses: the manager lacks a right, or asked for something impossible."""

    code = "cluster_refused"

    @property
    def lacks_right(self) -> bool:
        """Whether nothing of this kind will be allowed, rather than this one thing."""
        return self.actual in ("401", "403")


@dataclass(frozen=True, slots=True)
class TokenOwner:
    """Whose a valid token is. ``node`` and ``pod`` are claims of a bound service-account token;
    ``node`` is absent before Kubernetes 1.30.
    """

    username: str
    groups: tuple[str, ...] = ()
    node: str | None = None
    pod: str | None = None

    @property
    def namespace(self) -> str | None:
        """The service account's namespace, None for anybody else."""
        parts = self.username.split(":")
        return parts[2] if parts[:2] == ["system", "serviceaccount"] and len(parts) == 4 else None


@dataclass(frozen=True, slots=True)
class Access:
    """An action of a user that the cluster's own rules shall judge."""

    user: str
    verb: str
    group: str
    resource: str
    namespace: str | None = None
    name: str | None = None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod as far as it concerns FPGAs."""

    namespace: str
    name: str
    uid: str
    node: str | None
    service_account: str
    phase: str
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notice:
    """An Event on a pod or node. ``warning`` or normal. ``at`` is when it happened, None now.

    With ``key``, lower-case letters and digits, one Event is created however often it is asked for.
    """

    kind: str
    name: str
    reason: str
    message: str
    warning: bool = False
    namespace: str = "default"
    uid: str | None = None
    key: str | None = None
    at: datetime | None = None


class Cluster(Protocol):
    """Every call raises ClusterUnavailable where the API is away, ClusterRefused where it says no.

    None stands for what is not there.
    """

    def review_token(self, token: str, audience: str) -> TokenOwner | None:
        """Whose ``token`` is; None for one that is not valid for ``audience``."""

    def may(self, access: Access) -> bool:
        """Whether the cluster's rules allow an action."""

    def node_labels(self, node: str) -> dict[str, str] | None:
        """A node's labels."""

    def label_node(self, node: str, labels: Mapping[str, str | None]) -> None:
        """Set labels of a node; None removes one. Others stay."""

    def pod(self, namespace: str, name: str) -> Pod | None:
        """A pod."""

    def notify(self, notice: Notice) -> None:
        """Create an Event; one with a known key is there already, which is well."""
