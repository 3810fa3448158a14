"""The one exception of everything that can end a programming operation.

Raised by the agent and by programmers, turned into the operation's end by ``agent.operations``.
"""

from fpga_common.domain.errors import FpgaError
from fpga_common.domain.operation import Failure, FailureCode


class OperationFailed(FpgaError):
    """An operation cannot go on; ``failure`` says why and whether trying again can help."""

    code = "operation_failed"

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message, expected=failure.expected, actual=failure.actual)
        self.failure = failure


def operation_failed(
    code: FailureCode, message: str, *, expected: str | None = None, actual: str | None = None
) -> OperationFailed:
    """An OperationFailed for one stable code."""
    return OperationFailed(Failure(code, message, expected=expected, actual=actual))
