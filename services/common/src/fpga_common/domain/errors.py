"""Base classes of every typed failure.

A failure has a stable ``code`` that programs may compare; ``Permanent`` or ``Temporary`` decides
whether trying again can help.
"""

from typing import ClassVar


class FpgaError(Exception):
    """A failure with a stable code and, where they exist, the expected and the actual value."""

    code: ClassVar[str] = "error"

    def __init__(
        self, message: str, *, expected: str | None = None, actual: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.expected = expected
        self.actual = actual


class Permanent(FpgaError):
    """Trying the same again fails the same way."""


class Temporary(FpgaError):
    """Trying again later may succeed."""


class InvalidConfiguration(Permanent):
    """A setting is wrong; ``key`` names it. Processes end with exit code 2."""

    code = "invalid_configuration"

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"{key}: {message}")
        self.key = key
