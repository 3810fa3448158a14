"""Operations of the node agent: phases, and every reason for which one can fail."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Phase(StrEnum):
    """Where an operation is. ``done`` and ``failed`` are ends."""

    ACCEPTED = "accepted"
    FETCHING = "fetching"
    CHECKING = "checking"
    DRAINING = "draining"
    PROGRAMMING = "programming"
    VERIFYING = "verifying"
    DONE = "done"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        """Whether nothing can follow."""
        return self in (Phase.DONE, Phase.FAILED)


class Retry(StrEnum):
    """What a load does after a failure of one attempt."""

    NEVER = "never"
    ONCE = "once"
    BACKOFF = "backoff"
    WHEN_FREE = "when_free"


class FailureCode(StrEnum):
    """Stable codes of failures; ``RETRY`` says what follows each."""

    WRONG_NODE = "wrong_node"
    REGION_UNKNOWN = "region_unknown"
    REGION_STATIC = "region_static"
    REGION_UNUSABLE = "region_unusable"
    INTERFACE_MISMATCH = "interface_mismatch"
    DIGEST_MISMATCH = "digest_mismatch"
    FORMAT_INVALID = "format_invalid"
    SIGNATURE_INVALID = "signature_invalid"
    UNSUPPORTED = "unsupported"
    FETCH_FAILED = "fetch_failed"
    NODE_UNREACHABLE = "node_unreachable"
    SHUTTING_DOWN = "shutting_down"
    CARD_BUSY = "card_busy"
    REGION_HELD = "region_held"
    OPEN_ELSEWHERE = "open_elsewhere"
    CORDONED = "cordoned"
    DRAIN_TIMEOUT = "drain_timeout"
    PROGRAMMING_REJECTED = "programming_rejected"
    PROGRAMMING_INCOMPATIBLE = "programming_incompatible"
    PROGRAMMING_TIMEOUT = "programming_timeout"
    VERIFICATION_MISMATCH = "verification_mismatch"
    CARD_MISSING = "card_missing"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    INTERNAL = "internal"


_C = FailureCode

RETRY: Final[dict[FailureCode, Retry]] = {
    _C.WRONG_NODE: Retry.NEVER,
    _C.REGION_UNKNOWN: Retry.NEVER,
    _C.REGION_STATIC: Retry.NEVER,
    _C.REGION_UNUSABLE: Retry.BACKOFF,
    _C.INTERFACE_MISMATCH: Retry.NEVER,
    _C.DIGEST_MISMATCH: Retry.ONCE,
    _C.FORMAT_INVALID: Retry.NEVER,
    _C.SIGNATURE_INVALID: Retry.NEVER,
    _C.UNSUPPORTED: Retry.NEVER,
    _C.FETCH_FAILED: Retry.BACKOFF,
    _C.NODE_UNREACHABLE: Retry.BACKOFF,
    _C.SHUTTING_DOWN: Retry.BACKOFF,
    _C.CARD_BUSY: Retry.WHEN_FREE,
    _C.REGION_HELD: Retry.WHEN_FREE,
    _C.OPEN_ELSEWHERE: Retry.WHEN_FREE,
    _C.CORDONED: Retry.WHEN_FREE,
    _C.DRAIN_TIMEOUT: Retry.BACKOFF,
    _C.PROGRAMMING_REJECTED: Retry.ONCE,
    _C.PROGRAMMING_INCOMPATIBLE: Retry.NEVER,
    _C.PROGRAMMING_TIMEOUT: Retry.ONCE,
    _C.VERIFICATION_MISMATCH: Retry.NEVER,
    _C.CARD_MISSING: Retry.BACKOFF,
    _C.INTERRUPTED: Retry.ONCE,
    _C.CANCELLED: Retry.NEVER,
    _C.DEADLINE_EXCEEDED: Retry.NEVER,
    _C.INTERNAL: Retry.ONCE,
}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an operation failed, in words that name what was found and what was expected."""

    code: FailureCode
    message: str
    expected: str | None = None
    actual: str | None = None

    @property
    def retryable(self) -> bool:
        """Whether another attempt may succeed."""
        return RETRY[self.code] is not Retry.NEVER


def operation_id(load_id: str, attempt: int) -> str:
    """The id of a load's attempt on the node: what makes ``Program`` idempotent."""
    return f"{load_id}.{attempt}"
