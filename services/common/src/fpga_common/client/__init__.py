"""Typed client of the manager's REST API, for console, command line and users' own programs."""

from fpga_common.client.errors import ManagerProblem, ManagerUnavailable
from fpga_common.client.manager import ManagerClient

__all__ = ["ManagerClient", "ManagerProblem", "ManagerUnavailable"]
