"""Does the manager answer, does it take this node's token, and would it reach the agent?"""

import http.client
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from fpga_common.domain.errors import FpgaError, InvalidConfiguration
from fpga_plugin.agent.certificate import (
    CertificateFiles,
    days_left,
    is_current,
    why_unusable,
)
from fpga_plugin.agent.server import AgentNotServing, read_authority, require_safe
from fpga_plugin.doctor.addresses import local_address
from fpga_plugin.doctor.finding import Finding, failed, ok, warning
from fpga_plugin.manager_link import ManagerLink, ManagerRefused
from fpga_plugin.settings import PluginSettings

CALL_SECONDS: Final = 5.0
_NO_BITSTREAM: Final = f"sha256:{'0' * 64}"


def check_agent(settings: PluginSettings) -> Iterator[Finding]:
    """The agent's port and identity."""
    check = "agent port"
    try:
        require_safe(settings.agent)
        with socket.create_connection(local_address(settings.agent.bind), CALL_SECONDS):
            yield ok(check, settings.agent.bind)
    except InvalidConfiguration as error:
        yield failed(check, error.message)
    except OSError as error:
        advice = "is fpga-plugin serve running? does agent.client_ca_file exist?"
        yield failed(check, f"{settings.agent.bind}: {error.strerror or error}", advice)
    yield _certificate(settings)
    if settings.agent.client_ca_file is not None:
        yield _authority(settings.agent.client_ca_file)


def check_manager(settings: PluginSettings) -> Iterator[Finding]:
    """The manager's address, certificate and opinion of this node's token."""
    check = "manager"
    if not settings.manager.url:
        yield warning(check, "manager.url is empty: this node reports to nobody")
        return
    # A bitstream that cannot exist: 404 says that the manager took the token.
    path = f"/internal/v1/bitstreams/{_NO_BITSTREAM}"
    try:
        with ManagerLink(settings.manager).request("GET", path, timeout=CALL_SECONDS):
            yield ok(check, settings.manager.url)
    except ManagerRefused as error:
        yield _opinion(settings, error)
    except FpgaError as error:
        advice = "is the manager running? are manager.url, ca_file and token_file right?"
        yield failed(check, error.message, advice)


def _opinion(settings: PluginSettings, refused: ManagerRefused) -> Finding:
    url = settings.manager.url
    if refused.status == http.client.NOT_FOUND:
        return ok("manager", f"{url} takes this node's token")
    if refused.status in (http.client.UNAUTHORIZED, http.client.FORBIDDEN):
        advice = f"manager.token_file must hold the token of node {settings.node}"
        return failed("manager", f"{url} refuses this node's token ({refused.status})", advice)
    return failed("manager", f"{url}: {refused.message}")


def _certificate(settings: PluginSettings) -> Finding:
    check = "certificate"
    files = CertificateFiles(settings.state_dir / "agent")
    now = time.time()
    if is_current(files, settings.node, now=now):
        end = datetime.fromtimestamp(now + days_left(files, now) * 86400.0, UTC)
        return ok(check, f"{files.certificate} until {end:%Y-%m-%d}")
    if files.certificate.exists():
        reason = why_unusable(files)
        why = "is not for this node, or near its end"
        if reason is not None:
            why = f"cannot be used with {files.key.name}: {reason}"
        return warning(check, f"{files.certificate} {why}", "restart fpga-plugin serve to renew it")
    return failed(check, f"{files.certificate} is not there", "fpga-plugin serve makes it")


def _authority(path: Path) -> Finding:
    try:
        read_authority(path)
    except AgentNotServing as error:
        return failed("agent.client_ca_file", error.message, "the bootstrap's ca.crt belongs there")
    return ok("agent.client_ca_file", str(path))
