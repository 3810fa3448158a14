"""The plugin's settings: one strict YAML file, each key also an environment variable.

``cli`` loads them once; everything else gets the finished value. ``FPGA_PLUGIN_`` and the key in
upper case, levels joined by ``__``, is the variable (``FPGA_PLUGIN_HEALTH__INTERVAL_SECONDS``); it
wins over the file. Every failure is an InvalidConfiguration that names the dotted key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from fpga_common.domain.names import AGENT_PORT, DEFAULT_POOL, METRICS_PORT, RESOURCE_DOMAIN
from fpga_plugin.configuration.limits import check_limits
from fpga_plugin.configuration.reading import build, read_environment, read_file

ENVIRONMENT_PREFIX: Final = "FPGA_PLUGIN_"


@dataclass(frozen=True, slots=True)
class KubeletSettings:
    """Where the kubelet listens. ``enabled: false`` is a node without kubelet."""

    enabled: bool = True
    device_plugin_dir: Path = Path("/var/lib/kubelet/device-plugins")
    pod_resources_socket: Path = Path("/var/lib/kubelet/pod-resources/kubelet.sock")

    def plugin_socket(self, pool: str) -> Path:
        """Where the device plugin of a pool serves."""
        return self.device_plugin_dir / f"fpga-platform-{pool}.sock"


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The node agent: ``bind`` is host:port, ``address`` the host:port that is advertised.

    ``client_ca_file`` signs the manager's client certificate; without it only loopback is served.
    """

    bind: str = f"0.0.0.0:{AGENT_PORT}"
    address: str = ""
    client_ca_file: Path | None = None


@dataclass(frozen=True, slots=True)
class ManagerSettings:
    """The bitstream manager that gets the reports; an empty ``url`` means no reports."""

    url: str = ""
    ca_file: Path | None = None
    token_file: Path | None = None


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """One extended resource ``fpga-platform.io/<name>`` and what a device of it is."""

    name: str = DEFAULT_POOL
    unit: Literal["region"] = "region"

    @property
    def resource(self) -> str:
        """The extended resource's name."""
        return f"{RESOURCE_DOMAIN}/{self.name}"


@dataclass(frozen=True, slots=True)
class HealthSettings:
    """How often each card is read, in seconds (0.1 to 60)."""

    interval_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """Where metrics are served, host:port; empty turns them off."""

    bind: str = f"0.0.0.0:{METRICS_PORT}"


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is logged, and for whom: ``json`` for machines, ``text`` for people."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["json", "text"] = "json"


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """Everything the plugin can be told. ``host_root`` prefixes every read of /sys and /dev."""

    node: str
    host_root: Path = Path("/")
    state_dir: Path = Path("/var/lib/fpga-platform")
    kubelet: KubeletSettings = field(default_factory=KubeletSettings)
    agent: AgentSettings = field(default_factory=AgentSettings)
    manager: ManagerSettings = field(default_factory=ManagerSettings)
    pools: tuple[PoolSettings, ...] = (PoolSettings(),)
    health: HealthSettings = field(default_factory=HealthSettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    log: LogSettings = field(default_factory=LogSettings)


def load_settings(config: Path | None, environ: Mapping[str, str]) -> PluginSettings:
    """Read, merge and check the settings; ``node`` defaults to the variable NODE_NAME.

    Raises:
        InvalidConfiguration: names the dotted key, what was found and what is expected.
    """
    values = read_file(config) if config is not None else {}
    read_environment(PluginSettings, environ, ENVIRONMENT_PREFIX, into=values)
    if "node" not in values and environ.get("NODE_NAME"):
        values["node"] = environ["NODE_NAME"]
    settings = build(PluginSettings, values)
    check_limits(settings)
    return settings
