"""Failures for people: what happened, what was expected, what to try."""

from dataclasses import dataclass
from typing import Final

from fpga_common.contract.problem import Problem


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """One thing that was wrong."""

    detail: str
    field: str = ""
    expected: str = ""
    actual: str = ""


@dataclass(frozen=True, slots=True)
class ErrorView:
    """A failure as a page or panel shows it."""

    status: int
    title: str
    detail: str
    remedy: str = ""
    code: str = ""
    expected: str = ""
    actual: str = ""
    lines: tuple[ErrorLine, ...] = ()
    unavailable: bool = False


_OF_STATUS: Final[dict[int, tuple[str, str]]] = {
    400: ("Bad request", "The address or form has something that is not understood."),
    403: ("Refused", "Your role does not allow this."),
    404: ("Not found", "There is nothing at this address. It may have been removed."),
    405: ("Not possible", "This address does not take that kind of request."),
    413: ("Too large", "The request is larger than this console takes."),
    500: ("Something went wrong here", "The console could not make this page."),
}
_REMEDIES: Final[dict[int, str]] = {
    403: "Ask an administrator for a token with the role that this needs.",
    500: "Try again. If it stays, look for the request's id in the console's log.",
}


def of_status(status: int, detail: str | None = None) -> ErrorView:
    """A failure of the console itself."""
    title, standard = _OF_STATUS.get(status, ("Not possible", "The request was not understood."))
    return ErrorView(status, title, detail or standard, remedy=_REMEDIES.get(status, ""))


def of_problem(problem: Problem) -> ErrorView:
    """A refusal of the manager, with everything that it said."""
    return ErrorView(
        status=problem.status,
        title=problem.title,
        detail=problem.detail,
        remedy=_REMEDIES.get(problem.status, ""),
        code=problem.code,
        expected=problem.expected or "",
        actual=problem.actual or "",
        lines=tuple(
            ErrorLine(
                error.detail,
                error.field or error.pointer or "",
                error.expected or "",
                error.actual or "",
            )
            for error in problem.errors
        ),
    )


def unavailable(detail: str = "") -> ErrorView:
    """The manager does not answer."""
    return ErrorView(
        status=503,
        title="The manager cannot be reached",
        detail=detail or "Nothing current is known of the cluster until it answers again.",
        remedy="Pods keep the devices they have, and loads go on. This page tries again by itself.",
        unavailable=True,
    )
