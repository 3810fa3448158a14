"""Settings of every manager process: one YAML file, each key also by environment variable.

Called by ``cli``. The environment wins over the file: ``FPGA_MANAGER_API__BIND`` is ``api.bind``.
Each field says its unit, its default and why it is what it is.
"""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from fpga_common.domain.errors import InvalidConfiguration
from fpga_common.settings import (
    Address,
    LogSettings,
    MetricsSettings,
    Section,
    ServiceSettings,
    load,
)


class ApiSettings(Section):
    """The REST server."""

    bind: Address = Field(
        default="127.0.0.1:8080", description="host:port; loopback because it is plain HTTP."
    )
    tls_cert_file: str = Field(default="", description="PEM chain; empty serves plain HTTP.")
    tls_key_file: str = Field(default="", description="PEM key of tls_cert_file.")
    threads: int = Field(
        default=32, ge=2, le=512, description="Requests at a time; an event stream holds one."
    )
    streams: int = Field(
        default=24, ge=1, description="Event streams at a time; leaves threads for short requests."
    )
    max_json_bytes: int = Field(
        default=4 * 1024 * 1024,
        ge=1024,
        description="Longest JSON body in bytes; a report of 64 devices has under 1 MiB.",
    )

    @model_validator(mode="after")
    def _certificate_has_key(self) -> Self:
        if bool(self.tls_cert_file) != bool(self.tls_key_file):
            raise ValueError("tls_cert_file and tls_key_file go together")
        if self.streams >= self.threads:
            object.__setattr__(self, "streams", self.threads - 1)
        return self

    @property
    def tls(self) -> bool:
        """Whether the server speaks HTTPS."""
        return bool(self.tls_cert_file)


class DatabaseSettings(Section):
    """The ledger."""

    url: str = Field(
        default="sqlite:////var/lib/fpga-platform/ledger.db",
        pattern=r"^(sqlite:///.+|postgresql(\+psycopg)?://.+)",
        description="SQLAlchemy URL; SQLite needs one volume that every process shares.",
    )
    busy_seconds: float = Field(
        default=10.0, gt=0, description="Wait in seconds for another writer before answering 503."
    )


class RedisSettings(Section):
    """Broker and heartbeats."""

    url: str = Field(
        default="redis://127.0.0.1:6379/0",
        pattern=r"^(rediss?|unix)://",
        description="Where Redis or Valkey answers.",
    )
    password_file: str = Field(
        default="", description="File with the password; a password in the URL would be shown."
    )
    timeout_seconds: float = Field(
        default=1.0,
        gt=0,
        description="Longest wait in seconds for an answer; the ledger stands in.",
    )

    def password(self) -> str | None:
        """The password, None where there is none. Raises InvalidConfiguration."""
        if not self.password_file:
            return None
        try:
            return Path(self.password_file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise InvalidConfiguration("redis.password_file", str(error)) from error


class StoreSettings(Section):
    """Where bitstreams lie."""

    url: str = Field(
        default="file:///var/lib/fpga-platform/bitstreams",
        pattern=r"^file:///",
        description="Folder as a file URL.",
    )


class BitstreamSettings(Section):
    """What may be uploaded."""

    max_bytes: int = Field(
        default=1024**3, ge=1, description="Largest file in bytes; the largest cards' are 200 MB."
    )


class AccessSettings(Section):
    """Who may call."""

    admin_token_file: str = Field(default="", description="File with the first admin's token.")
    node_tokens_dir: str = Field(
        default="", description="Folder of <node>.token files; for nodes outside Kubernetes."
    )
    session_seconds: float = Field(
        default=43200.0, gt=0, description="Life of a console session in seconds: a working day."
    )


class AgentSettings(Section):
    """How the manager shows itself to node agents."""

    client_cert_file: str = Field(default="", description="PEM certificate; empty: plain gRPC.")
    client_key_file: str = Field(default="", description="PEM key of client_cert_file.")


class KubernetesSettings(Section):
    """The cluster."""

    enabled: bool = Field(default=False, description="Off: nodes are known by their files alone.")
    api_url: str = Field(default="", description="Empty: the cluster this process runs in.")
    ca_file: str = Field(default="", description="CA of api_url.")
    token_file: str = Field(default="", description="Bearer token for api_url.")
    plugin_account: str = Field(
        default="fpga-platform/fpga-platform-plugin",
        pattern=r"^[^/]+/[^/]+$",
        description="<namespace>/<service account> of the plugin: only its tokens speak for nodes.",
    )


class WorkerSettings(Section):
    """The Celery worker."""

    threads: int = Field(default=8, ge=1, le=256, description="Loads at a time.")


class ReconcilerSettings(Section):
    """The repairing loop."""

    interval_seconds: float = Field(
        default=1.0, gt=0, description="Pause between two passes in seconds."
    )


class ManagerSettings(ServiceSettings, env_prefix="FPGA_MANAGER_"):
    """Everything that can be set."""

    api: ApiSettings = Field(default_factory=ApiSettings)
    database: DatabaseSettings = Field(default_factory=DatabaseSettings)
    redis: RedisSettings = Field(default_factory=RedisSettings)
    store: StoreSettings = Field(default_factory=StoreSettings)
    bitstreams: BitstreamSettings = Field(default_factory=BitstreamSettings)
    access: AccessSettings = Field(default_factory=AccessSettings)
    agent: AgentSettings = Field(default_factory=AgentSettings)
    kubernetes: KubernetesSettings = Field(default_factory=KubernetesSettings)
    worker: WorkerSettings = Field(default_factory=WorkerSettings)
    reconciler: ReconcilerSettings = Field(default_factory=ReconcilerSettings)
    metrics: MetricsSettings = Field(default_factory=MetricsSettings)
    log: LogSettings = Field(default_factory=LogSettings)


def load_settings(config: Path | None) -> ManagerSettings:
    """Read the file and the environment. Raises InvalidConfiguration naming the key."""
    return load(ManagerSettings, config)
