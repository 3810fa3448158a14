"""What can go wrong between a client and the manager."""

from fpga_common.contract.problem import Problem
from fpga_common.domain.errors import Permanent, Temporary


class ManagerUnavailable(Temporary):
    """The manager could not be reached, or did not answer in time."""

    code = "manager_unavailable"


class ManagerProblem(Permanent):
    """The manager refused; ``problem`` is its RFC 9457 document."""

    code = "manager_problem"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail, expected=problem.expected, actual=problem.actual)
        self.problem = problem

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.problem.status
