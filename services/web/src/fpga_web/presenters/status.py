"""States as a word, an icon and a tone: never as a colour alone."""

from dataclasses import dataclass
from typing import Final, Literal

from fpga_common.contract.access import Role
from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus
from fpga_common.domain.load import LoadState

Tone = Literal["good", "warn", "bad", "unknown", "busy", "idle"]


@dataclass(frozen=True, slots=True)
class Status:
    """How a state is shown; ``meaning`` is a sentence for who does not know the word."""

    value: str
    word: str
    icon: str
    tone: Tone
    meaning: str = ""


_H = HealthStatus
HEALTH: Final[dict[HealthStatus, Status]] = {
    _H.UNHEALTHY: Status("unhealthy", "Unhealthy", "cross", "bad", "Not handed to pods."),
    _H.UNKNOWN: Status("unknown", "Unknown", "question", "unknown", "Nothing current is known."),
    _H.WARNING: Status(
        "warning", "Warning", "triangle", "warn", "Works, with something to look at."
    ),
    _H.HEALTHY: Status("healthy", "Healthy", "check", "good", "Every check passed."),
}

_R = RegionState
REGION: Final[dict[RegionState, Status]] = {
    _R.READY: Status("ready", "Ready", "dot", "idle", "May be handed out and programmed."),
    _R.RESERVED: Status("reserved", "Reserved", "lock", "busy", "Being programmed or cordoned."),
    _R.QUARANTINED: Status(
        "quarantined", "Quarantined", "shield", "warn", "A programming failed; load again or clear."
    ),
    _R.STATIC: Status("static", "Static", "pin", "idle", "Cannot be programmed."),
    _R.UNUSABLE: Status("unusable", "Unusable", "ban", "bad", "Cannot be handed out."),
    _R.MISSING: Status("missing", "Missing", "dashed", "unknown", "Known, but not there now."),
}

_L = LoadState
LOAD: Final[dict[LoadState, Status]] = {
    _L.QUEUED: Status("queued", "Queued", "clock", "idle", "Waits for a worker."),
    _L.WAITING: Status("waiting", "Waiting", "pause", "warn", "Waits until the device is free."),
    _L.CLAIMED: Status("claimed", "Starting", "play", "busy", "A worker has taken it."),
    _L.PROGRAMMING: Status("programming", "Programming", "bolt", "busy", "Is being written."),
    _L.VERIFYING: Status("verifying", "Verifying", "search", "busy", "Its identity is read back."),
    _L.CANCELLING: Status("cancelling", "Cancelling", "stop", "warn", "Was asked to stop."),
    _L.SUCCEEDED: Status("succeeded", "Succeeded", "check", "good", "The device runs the AFU."),
    _L.FAILED: Status("failed", "Failed", "cross", "bad", "It did not end well."),
    _L.CANCELLED: Status("cancelled", "Cancelled", "ban", "idle", "Was stopped before its end."),
    _L.EXPIRED: Status("expired", "Expired", "hourglass", "warn", "Its deadline passed."),
}

NODE_REPORTING: Final = Status("reporting", "Reporting", "check", "good")
NODE_STALE: Final = Status("stale", "Not reporting", "question", "unknown")

ROLE_WORDS: Final[dict[Role, str]] = {
    Role.VIEWER: "Viewer",
    Role.OPERATOR: "Operator",
    Role.ADMIN: "Administrator",
}


def health(value: HealthStatus, *, stale: bool = False) -> Status:
    """A health; of a node that stopped reporting nothing is known."""
    return HEALTH[HealthStatus.UNKNOWN if stale else value]
