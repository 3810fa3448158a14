"""How threads share the interpreter. Called by ``serve`` alone."""

import sys
from typing import Final

SWITCH_SECONDS: Final = 0.0005
"""A tenth of Python's own: a reading of sysfs must not make Allocate wait 5 ms for its turn."""


def answer_quickly() -> None:
    """Let a thread that has work get the interpreter within half a millisecond."""
    sys.setswitchinterval(SWITCH_SECONDS)
