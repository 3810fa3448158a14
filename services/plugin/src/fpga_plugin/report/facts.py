"""What a node says of itself besides its cards. Read once at start by ``serve``."""

import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

from fpga_plugin import __version__
from fpga_plugin.report.document import Document
from fpga_plugin.settings import AgentSettings

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def node_facts() -> Document:
    """Kernel, boot and version; drivers are added from the cards."""
    return {"kernel": os.uname().release, "boot_id": _boot_id(), "plugin_version": __version__}


def advertised_address(settings: AgentSettings, manager_url: str, port: int) -> str:
    """The host:port under which the manager reaches the agent.

    What the settings say; else the bound address, or for a wildcard the address from which this
    machine reaches the manager.
    """
    if settings.address:
        return settings.address
    host = settings.bind.rpartition(":")[0]
    if host.strip("[]") in ("0.0.0.0", "::", ""):
        host = _own_address(manager_url)
    return f"{host}:{port}"


def _own_address(manager_url: str) -> str:
    parts = urlsplit(manager_url)
    try:
        # Connecting a datagram socket sends nothing; it only picks a route.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((parts.hostname or "127.0.0.1", parts.port or 443))
            address: str = probe.getsockname()[0]
            return address
    except OSError:
        return socket.gethostname()


def _boot_id() -> str | None:
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return None
