"""Where the parts of a local platform keep their files, and their configuration as values."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Configuration = dict[str, Any]

OUR_VARIABLES: Final = ("FPGA_PLUGIN_", "FPGA_MANAGER_", "FPGA_WEB_", "FPGACTL_", "NODE_NAME")


@dataclass(frozen=True, slots=True)
class Layout:
    """Folders and files below one private folder."""

    root: Path

    @property
    def credentials(self) -> Path:
        """What the bootstrap makes."""
        return self.root / "credentials"

    @property
    def logs(self) -> Path:
        """One log a process."""
        return self.root / "logs"

    def node(self, name: str) -> Path:
        """Everything of one simulated node."""
        return self.root / "nodes" / name


def console_script(name: str) -> str:
    """The path of an installed command, beside the running interpreter."""
    return str(Path(sys.executable).parent / name)


def write_configuration(path: Path, configuration: Configuration) -> Path:
    """Write a service's configuration; JSON is YAML."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(configuration, indent=2), encoding="utf-8")
    return path


def manager_configuration(
    layout: Layout, *, api_port: int, redis_url: str, database_url: str | None = None
) -> Configuration:
    """The manager's settings on one machine: plain HTTP on loopback, SQLite, a folder as store."""
    credentials = layout.credentials
    return {
        "api": {"bind": f"127.0.0.1:{api_port}"},
        "database": {"url": database_url or f"sqlite:///{layout.root}/ledger.db"},
        "redis": {"url": redis_url, "password_file": str(credentials / "redis-password")},
        "store": {"url": f"file://{layout.root}/bitstreams"},
        "access": {
            "admin_token_file": str(credentials / "admin-token"),
            "node_tokens_dir": str(credentials / "nodes"),
        },
        "agent": {
            "client_cert_file": str(credentials / "manager-client.crt"),
            "client_key_file": str(credentials / "manager-client.key"),
        },
        "reconciler": {"interval_seconds": 0.5},
    }


def plugin_configuration(
    layout: Layout,
    node: str,
    *,
    host_root: Path,
    kubelet: Configuration,
    agent_port: int,
    metrics_port: int,
    manager_url: str,
) -> Configuration:
    """The node plugin's settings for one simulated node."""
    return {
        "node": node,
        "host_root": str(host_root),
        "state_dir": str(layout.node(node) / "state"),
        "kubelet": kubelet,
        "agent": {
            "bind": f"127.0.0.1:{agent_port}",
            "address": f"127.0.0.1:{agent_port}",
            "client_ca_file": str(layout.credentials / "ca.crt"),
        },
        "manager": {
            "url": manager_url,
            "token_file": str(layout.credentials / "nodes" / f"{node}.token"),
        },
        "metrics": {"bind": f"127.0.0.1:{metrics_port}"},
    }
