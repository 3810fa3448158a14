"""Settings of the console: one YAML file, each key also by environment variable.

Called by ``cli``. The environment wins over the file: ``FPGA_WEB_MANAGER__URL`` is ``manager.url``.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from fpga_common.domain.errors import InvalidConfiguration

ENVIRONMENT_PREFIX = "FPGA_WEB_"


def require_address(text: str) -> str:
    """Return ``text`` if it is ``host:port``. Raises ValueError."""
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError("expected host:port")
    return text


Address = Annotated[str, AfterValidator(require_address)]
OptionalAddress = Annotated[str, AfterValidator(lambda text: text and require_address(text))]


class Section(BaseModel):
    """A part of the file; unknown keys are errors, so that a typing mistake is not a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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


class MetricsSettings(Section):
    """Prometheus metrics on a port of their own."""

    bind: OptionalAddress = Field(default="", description="host:port; empty turns them off.")


class LogSettings(Section):
    """The log on stderr."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["json", "text"] = "json"


class WebSettings(BaseSettings):
    """Everything the console can be told."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
    )

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

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment first, then the file, which comes as keyword arguments."""
        return env_settings, init_settings


def load_settings(config: Path | None) -> WebSettings:
    """Read the file and the environment. Raises InvalidConfiguration naming the key."""
    try:
        return WebSettings(**_document(config))
    except ValidationError as error:
        raise _first(error.errors()[0]) from error


def _document(config: Path | None) -> dict[str, Any]:
    if config is None:
        return {}
    try:
        document = yaml.safe_load(config.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidConfiguration(str(config), " ".join(str(error).split())) from error
    if not isinstance(document, dict | None) or not all(
        isinstance(key, str) for key in document or ()
    ):
        raise InvalidConfiguration(str(config), "expected a mapping of settings")
    return document or {}


def _first(error: ErrorDetails) -> InvalidConfiguration:
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return InvalidConfiguration(key, "unknown key")
    return InvalidConfiguration(key, f"found {error['input']!r}: {error['msg']}")
