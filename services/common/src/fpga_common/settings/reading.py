"""Reads a service's settings: one YAML file, each key also by environment variable, which wins.

Called by the services' own ``settings`` modules.
"""

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from fpga_common.domain.errors import InvalidConfiguration

Settings = TypeVar("Settings", bound="ServiceSettings")


class ServiceSettings(BaseSettings):
    """Everything that one service can be told. A service sets ``env_prefix``."""

    model_config = SettingsConfigDict(env_nested_delimiter="__", extra="forbid", frozen=True)

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


def load(kind: type[Settings], config: Path | None) -> Settings:
    """Read the file and the environment.

    Raises:
        InvalidConfiguration: names the first wrong key, what was found and what is expected.
    """
    values = _read_file(config) if config else {}
    try:
        return kind(**values)
    except ValidationError as error:
        raise _first_mistake(error) from error
    except ValueError as error:  # an environment variable of a whole section that is not JSON
        prefix = str(kind.model_config.get("env_prefix", ""))
        raise InvalidConfiguration(prefix, str(error)) from error


def _read_file(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidConfiguration("--config", f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        line = " ".join(str(error).split())
        raise InvalidConfiguration("--config", f"{path} is not YAML: {line}") from error
    if values is None:
        return {}
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        found = type(values).__name__
        raise InvalidConfiguration("--config", f"found {found} in {path}, expected a mapping")
    return values


def _first_mistake(error: ValidationError) -> InvalidConfiguration:
    mistake = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in mistake["loc"]) or "configuration"
    if mistake["type"] == "extra_forbidden":
        return InvalidConfiguration(
            key, "found an unknown key, expected one of the documented ones"
        )
    expected = mistake["msg"].removeprefix("Value error, ")
    if "@" in str(mistake["input"]):  # a URL that may hold a password
        return InvalidConfiguration(key, f"found something else, expected: {expected}")
    return InvalidConfiguration(key, f"found {mistake['input']!r}, expected: {expected}")
