"""Errors as RFC 9457 problem documents."""

from pydantic import Field

from fpga_common.contract.base import Answer


class ProblemError(Answer):
    """One thing wrong with a request; ``pointer`` is a JSON pointer into its body."""

    detail: str
    pointer: str | None = None
    field: str | None = None
    expected: str | None = None
    actual: str | None = None


class Problem(Answer):
    """Why a request failed. ``type`` is ``/problems/<code>``; ``instance`` is the request's id."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = None
    code: str
    expected: str | None = None
    actual: str | None = None
    errors: list[ProblemError] = Field(default_factory=list)
