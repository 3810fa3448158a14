"""The rules by which a device is held and let go, pure.

A device is held from Allocate on until PodResources has shown it and dropped it, or has not shown
it for two minutes. What the plugin remembers may add holders, never remove one: a kubelet that has
just started may show no pods yet, so a device that it no longer shows counts as dropped only while
the kubelet is the one that showed it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from fpga_plugin.kubelet.sockets import SocketIdentity

UNSEEN_SECONDS: Final = 120.0
"""How long a device that PodResources does not show stays held."""

JOURNAL: Final = "journal"
POD_RESOURCES: Final = "podresources"


@dataclass(frozen=True, slots=True)
class PodContainer:
    """The container of a pod that has a device of a resource, as PodResources names it."""

    namespace: str
    pod: str
    container: str
    resource: str


@dataclass(frozen=True, slots=True)
class PodListing:
    """One answer of PodResources: when it was asked (monotonic clock), and which kubelet."""

    asked_at: float
    kubelet: SocketIdentity
    devices: Mapping[str, PodContainer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hold:
    """A held device. ``since`` is seconds since the epoch, the rest on the monotonic clock.

    ``unseen_since`` is None while PodResources shows it; ``shown_by`` is the kubelet that last did.
    """

    device: str
    resource: str
    since: float
    allocated_at: float
    unseen_since: float | None
    shown_by: SocketIdentity | None = None
    holder: PodContainer | None = None


@dataclass(frozen=True, slots=True)
class DeviceHolder:
    """Who holds a device, as ``fpga_common.contract.report.Holder`` tells it.

    ``since`` is seconds since the epoch.
    """

    device: str
    source: str
    since: float
    resource: str | None = None
    namespace: str | None = None
    pod: str | None = None
    container: str | None = None


def settle(holds: Mapping[str, Hold], listing: PodListing, now_epoch: float) -> dict[str, Hold]:
    """The holds after PodResources has answered."""
    settled = {device: _settled(hold, listing) for device, hold in holds.items()}
    kept = {device: hold for device, hold in settled.items() if hold is not None}
    for device, holder in listing.devices.items():
        if device not in holds:
            kept[device] = _adopted(device, holder, listing, now_epoch)
    return kept


def holder_of(hold: Hold) -> DeviceHolder:
    """A hold in the words of the report."""
    named = hold.holder
    return DeviceHolder(
        device=hold.device,
        source=JOURNAL if hold.unseen_since is not None else POD_RESOURCES,
        since=hold.since,
        resource=hold.resource,
        namespace=named.namespace if named else None,
        pod=named.pod if named else None,
        container=named.container if named else None,
    )


def _settled(hold: Hold, listing: PodListing) -> Hold | None:
    if hold.allocated_at >= listing.asked_at:
        return hold  # the answer may speak of whoever held it before
    holder = listing.devices.get(hold.device)
    if holder is not None:
        return replace(hold, unseen_since=None, shown_by=listing.kubelet, holder=holder)
    if hold.unseen_since is None and hold.shown_by == listing.kubelet:
        return None
    if hold.unseen_since is None:
        return replace(hold, unseen_since=listing.asked_at)
    return None if listing.asked_at - hold.unseen_since >= UNSEEN_SECONDS else hold


def _adopted(device: str, holder: PodContainer, listing: PodListing, now_epoch: float) -> Hold:
    return Hold(
        device=device,
        resource=holder.resource,
        since=now_epoch,
        allocated_at=listing.asked_at,
        unseen_since=None,
        shown_by=listing.kubelet,
        holder=holder,
    )
