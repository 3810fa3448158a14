"""How failures end a command: exit codes, and one or two plain lines."""

from typing import Final

from fpga_common.client.errors import ManagerProblem, ManagerUnavailable
from fpga_common.contract.loads import Load
from fpga_common.contract.problem import Problem
from fpga_common.domain.errors import FpgaError, InvalidConfiguration
from fpgactl.output import plain

FAILED: Final = 1
USAGE: Final = 2
UNREACHABLE: Final = 3
INTERRUPTED: Final = 130


def exit_code_of(error: FpgaError | OSError) -> int:
    """The exit code that tells scripts what kind of failure it was."""
    if isinstance(error, ManagerUnavailable):
        return UNREACHABLE
    if isinstance(error, InvalidConfiguration | OSError):
        return USAGE
    return FAILED


def describe_failure(error: FpgaError | OSError) -> str:
    """The failure in words; the second line has expected and actual where both make sense."""
    if isinstance(error, ManagerProblem):
        return describe_problem(error.problem)
    if isinstance(error, FpgaError):
        return _lines(error.message, error.expected, error.actual)
    return _lines(str(error), None, None)


def describe_problem(problem: Problem) -> str:
    """A manager's refusal with its code."""
    expected, actual, detail = problem.expected, problem.actual, problem.detail
    if problem.errors and expected is None:
        first = problem.errors[0]
        expected, actual = first.expected, first.actual
        if first.detail not in detail:
            detail = f"{detail}: {first.detail}"
    return _lines(f"{detail} ({problem.code})", expected, actual)


def describe_end(load: Load) -> str:
    """Why a load did not succeed."""
    if load.error is None:
        return _lines(f"load {load.id} {load.state}", None, None)
    error = load.error
    text = f"load {load.id} {load.state}: {error.message} ({error.code})"
    return _lines(text, error.expected, error.actual)


def _lines(text: str, expected: str | None, actual: str | None) -> str:
    first = f"fpgactl: {plain(text)}"
    if expected is None:
        return first
    return f"{first}\n  expected {plain(expected)}, actual {plain(actual or '-')}"
