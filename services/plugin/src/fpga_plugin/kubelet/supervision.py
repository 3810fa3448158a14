"""When a pool has to register (again), and how soon. Pure.

The kubelet opens a stream once and never retries, so every way in which it can lose the plugin is
looked for here.
"""

from dataclasses import dataclass
from typing import Final

from fpga_plugin.kubelet.sockets import SocketIdentity

STREAM_SECONDS: Final = 2.0
"""How long after a registration the kubelet has to open its stream; it takes milliseconds."""

STABLE_SECONDS: Final = 5.0
"""A stream that has been open for so long was a success: failures are forgotten."""

FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Registration:
    """A registration that the kubelet accepted; times on the monotonic clock."""

    kubelet: SocketIdentity
    own_socket: SocketIdentity | None
    at: float


@dataclass(frozen=True, slots=True)
class Observation:
    """What is seen now: both sockets, and the stream of the present server."""

    kubelet: SocketIdentity | None
    own_socket: SocketIdentity | None
    streaming: bool
    streamed: bool
    now: float


def why_register(registration: Registration | None, seen: Observation) -> str | None:
    """Why to register now, as a constant word; None while nothing is wrong or no kubelet is."""
    if seen.kubelet is None:
        return None
    if registration is None:
        return "not_registered"
    if seen.kubelet != registration.kubelet:
        return "kubelet_restarted"
    if seen.own_socket is None or seen.own_socket != registration.own_socket:
        return "own_socket_gone"
    if seen.streaming:
        return None
    if seen.streamed:
        return "stream_ended"
    return "stream_not_opened" if seen.now - registration.at >= STREAM_SECONDS else None


@dataclass(frozen=True, slots=True)
class Attempts:
    """Attempts to register with one kubelet since the last lasting success."""

    kubelet: SocketIdentity | None = None
    count: int = 0
    last_at: float = 0.0

    def due(self, kubelet: SocketIdentity, now: float) -> bool:
        """Whether to try now: at once with a new kubelet, else after a growing pause."""
        if kubelet != self.kubelet or self.count == 0:
            return True
        pause = FIRST_PAUSE_SECONDS * 2.0 ** min(self.count - 1, 16)
        return now - self.last_at >= min(pause, LONGEST_PAUSE_SECONDS)

    def after_attempt(self, kubelet: SocketIdentity, now: float) -> "Attempts":
        """One more; the first with a new kubelet."""
        count = self.count + 1 if kubelet == self.kubelet else 1
        return Attempts(kubelet, count, now)

    def after_success(self, now: float) -> "Attempts":
        """Forget failures once a stream has lasted."""
        if self.count and now - self.last_at >= STABLE_SECONDS:
            return Attempts(self.kubelet, 0, self.last_at)
        return self
