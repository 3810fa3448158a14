"""Settings of the console: one YAML file, each key also by environment variable.

Called by ``cli``. The environment wins over the file: ``FPGA_WEB_MANAGER__URL`` is ``manager.url``.
"""

from pathlib import Path

from pydantic import Field

from fpga_common.settings import (
    Address,
    LogSettings,
    MetricsSettings,
    Section,
    ServiceSettings,
    load,
)


class ManagerSettings(Section):
    """Where the manager's REST API answers."""

    url: str = Field(
        default="http://127.0.0.1:8080",
        pattern=r"^https?://[^/]+",
        description="Address of the API; plain HTTP is for loopback.",
    )
    ca_file: str = Field(default="", description="PEM of the authority that signed it.")
    timeout_seconds: float = Field(
        default=8.0, gt=0, description="Longest wait in seconds before a page says unreachable."
    )


class WebSettings(ServiceSettings, env_prefix="FPGA_WEB_"):
    """Everything the console can be told."""

    bind: Address = Field(default="0.0.0.0:8000", description="host:port of the console.")
    manager: ManagerSettings = ManagerSettings()
    secret_key_file: str = Field(
        default="",
        description="File with the key that signs cookies; empty: a new key at each start, "
        "which signs everybody out.",
    )
    threads: int = Field(
        default=32, ge=4, le=512, description="Requests at a time; a live page of a load holds one."
    )
    trusted_proxies: str = Field(
        default="127.0.0.1,::1",
        description="Comma-separated addresses whose X-Forwarded-Proto is believed; * for all.",
    )
    max_upload_bytes: int = Field(
        default=1024**3, ge=1, description="Largest bitstream in bytes; the manager's limit too."
    )
    metrics: MetricsSettings = MetricsSettings()
    log: LogSettings = LogSettings()


def load_settings(config: Path | None) -> WebSettings:
    """Read the file and the environment. Raises InvalidConfiguration naming the key."""
    return load(WebSettings, config)
