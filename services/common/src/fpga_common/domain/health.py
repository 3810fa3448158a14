"""Health verdicts as values. Who decides them: ``fpga_plugin.health``."""

from dataclasses import dataclass
from enum import StrEnum


class HealthStatus(StrEnum):
    """What the platform says of a card or region, worst first in ``WORST_FIRST``."""

    HEALTHY = "healthy"
    WARNING = "warning"
    UNKNOWN = "unknown"
    UNHEALTHY = "unhealthy"


WORST_FIRST = (
    HealthStatus.UNHEALTHY,
    HealthStatus.UNKNOWN,
    HealthStatus.WARNING,
    HealthStatus.HEALTHY,
)


class Severity(StrEnum):
    """What a failing check does: ``fatal`` takes the device away, ``warning`` is shown."""

    FATAL = "fatal"
    WARNING = "warning"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a verdict is not ``healthy``.

    ``since`` is seconds since the epoch; ``observed`` and ``expected`` are text with units.
    """

    check: str
    severity: Severity
    message: str
    since: float
    observed: str | None = None
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Health with reasons. ``since`` is when ``status`` was entered, seconds since the epoch."""

    status: HealthStatus
    since: float
    reasons: tuple[Reason, ...] = ()

    @property
    def allocatable(self) -> bool:
        """Whether the kubelet is told ``Healthy``."""
        return self.status in (HealthStatus.HEALTHY, HealthStatus.WARNING)
