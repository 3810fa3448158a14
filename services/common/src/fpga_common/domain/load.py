"""Loads: states, the transition table, and who may do what next."""

from enum import StrEnum
from typing import Final

from fpga_common.domain.errors import Permanent


class LoadState(StrEnum):
    """Where a load is between its request and its one end."""

    QUEUED = "queued"
    WAITING = "waiting"
    CLAIMED = "claimed"
    PROGRAMMING = "programming"
    VERIFYING = "verifying"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"

    @property
    def ended(self) -> bool:
        """Whether nothing can follow."""
        return not TRANSITIONS[self]


_S = LoadState

TRANSITIONS: Final[dict[LoadState, frozenset[LoadState]]] = {
    _S.QUEUED: frozenset(
        {_S.CLAIMED, _S.WAITING, _S.SUCCEEDED, _S.CANCELLING, _S.CANCELLED, _S.FAILED, _S.EXPIRED}
    ),
    _S.WAITING: frozenset({_S.QUEUED, _S.CANCELLING, _S.CANCELLED, _S.FAILED, _S.EXPIRED}),
    _S.CLAIMED: frozenset(
        {
            _S.PROGRAMMING,
            _S.VERIFYING,
            _S.SUCCEEDED,
            _S.WAITING,
            _S.QUEUED,
            _S.CANCELLING,
            _S.FAILED,
            _S.EXPIRED,
        }
    ),
    _S.PROGRAMMING: frozenset(
        {_S.VERIFYING, _S.SUCCEEDED, _S.QUEUED, _S.CANCELLING, _S.FAILED, _S.EXPIRED}
    ),
    _S.VERIFYING: frozenset({_S.SUCCEEDED, _S.QUEUED, _S.CANCELLING, _S.FAILED, _S.EXPIRED}),
    _S.CANCELLING: frozenset({_S.CANCELLED, _S.SUCCEEDED, _S.FAILED}),
    _S.SUCCEEDED: frozenset(),
    _S.FAILED: frozenset(),
    _S.CANCELLED: frozenset(),
    _S.EXPIRED: frozenset(),
}

OPEN_STATES: Final = frozenset(state for state in LoadState if not state.ended)
ACTIVE_STATES: Final = frozenset({_S.PROGRAMMING, _S.VERIFYING})


class Priority(StrEnum):
    """Which of a region's loads comes first; then the older one."""

    INTERACTIVE = "interactive"
    NORMAL = "normal"
    BACKGROUND = "background"


class IfBusy(StrEnum):
    """What happens to a load whose region is held."""

    WAIT = "wait"
    FAIL = "fail"


class AttemptOutcome(StrEnum):
    """How one attempt of a load ended."""

    OK = "ok"
    ERROR = "error"
    INTERRUPTED = "interrupted"
    LOST = "lost"


class IllegalTransition(Permanent):
    """A state change that the table does not have."""

    code = "illegal_transition"


def require_transition(current: LoadState, following: LoadState) -> None:
    """Raise IllegalTransition unless ``following`` may come after ``current``."""
    if following not in TRANSITIONS[current]:
        allowed = ", ".join(sorted(TRANSITIONS[current])) or "nothing: it has ended"
        raise IllegalTransition(
            f"a load that is {current} cannot become {following}",
            expected=allowed,
            actual=following.value,
        )
