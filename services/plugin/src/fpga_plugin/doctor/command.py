"""Runs every check and prints what they found."""

from collections.abc import Callable, Iterator
from typing import Final

from fpga_common.observability.logging import configure_logging, get_logger
from fpga_plugin.doctor.finding import Finding, all_passed, as_json, as_table, failed
from fpga_plugin.doctor.hardware import check_hardware
from fpga_plugin.doctor.kubelet import check_kubelet
from fpga_plugin.doctor.manager import check_agent, check_manager
from fpga_plugin.doctor.state import check_state
from fpga_plugin.settings import PluginSettings

Check = Callable[[PluginSettings], Iterator[Finding]]

CHECKS: Final[tuple[Check, ...]] = (
    check_hardware,
    check_state,
    check_kubelet,
    check_agent,
    check_manager,
)

log = get_logger(__name__)


def run(settings: PluginSettings, output: str) -> int:
    """Print a table or, for ``json``, a document; return 0 if nothing failed, else 1."""
    configure_logging(level="error", log_format="text")
    findings = [finding for check in CHECKS for finding in _found(check, settings)]
    print(as_json(findings) if output == "json" else as_table(findings))  # noqa: T201
    return 0 if all_passed(findings) else 1


def _found(check: Check, settings: PluginSettings) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings.extend(check(settings))
    # A broken check must not keep the others from being shown.
    except Exception as error:
        log.exception("doctor_check_broke", check=check.__name__)
        findings.append(failed(check.__name__, f"{type(error).__name__}: {error}"))
    return findings
