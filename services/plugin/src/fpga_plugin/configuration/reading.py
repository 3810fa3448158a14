"""From YAML text and environment variables to frozen dataclasses, strictly.

``settings`` calls it. It knows types, not meanings: limits of values are ``limits``' business.
"""

import re
from collections.abc import Hashable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

import yaml

from fpga_common.domain.errors import InvalidConfiguration

Settings = TypeVar("Settings")
Values = dict[str, Any]

# Kubernetes gives every container such variables for each Service of its namespace.
_SERVICE_LINK: Final = re.compile(r"(.+_)?(SERVICE_(HOST|PORT(_.+)?)|PORT(_\d+_(TCP|UDP|SCTP).*)?)")


class _StrictLoader(yaml.SafeLoader):
    """Safe YAML that refuses a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=deep)
            if not isinstance(key, Hashable):
                continue  # refused below
            if key in seen:
                line = key_node.start_mark.line + 1
                raise InvalidConfiguration(str(key), f"found twice (line {line}), expected once")
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def read_file(path: Path) -> Values:
    """The mapping that a YAML file holds; an empty file is an empty mapping.

    Raises:
        InvalidConfiguration: the file cannot be read, or is not a YAML mapping; the key is
            ``config``.
    """
    try:
        return _mapping("config", parse_yaml(path.read_text(encoding="utf-8")) or {})
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfiguration("config", f"cannot read {path}: {error}") from error
    except yaml.YAMLError as error:
        place = " ".join(str(error).split())
        raise InvalidConfiguration("config", f"{path} is not YAML: {place}") from error
    except RecursionError as error:
        raise InvalidConfiguration("config", f"{path} is nested too deeply") from error


def parse_yaml(text: str) -> Any:
    """What a YAML text holds. Raises yaml.YAMLError, InvalidConfiguration for a doubled key."""
    return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a SafeLoader


def read_environment(
    settings: type[Any], environ: Mapping[str, str], prefix: str, *, into: Values
) -> None:
    """Put the values of ``prefix``'s variables into ``into``, over what is there.

    Raises:
        InvalidConfiguration: a variable names no key.
    """
    for name in sorted(environ):
        rest = name.removeprefix(prefix)
        if rest == name:
            continue
        path = rest.lower().split("__")
        if _is_key(settings, path):
            _put(into, path, environ[name])
        elif not _SERVICE_LINK.fullmatch(rest):
            raise InvalidConfiguration(".".join(path), f"unknown key, found in variable {name}")


def build(settings: type[Settings], values: Values, key: str = "") -> Settings:
    """Make ``settings`` of ``values``; text is accepted for every scalar, as variables are text.

    Raises:
        InvalidConfiguration: an unknown key, a missing key, or a value of the wrong type.
    """
    hints = get_type_hints(settings)
    known = {field.name: field for field in fields(settings)}  # type: ignore[arg-type]
    for name in values:
        if name not in known:
            raise InvalidConfiguration(
                _join(key, str(name)), f"unknown key, expected one of: {', '.join(known)}"
            )
    _require(known, values, key)
    return settings(
        **{name: _convert(hints[name], value, _join(key, name)) for name, value in values.items()}
    )


def _require(known: Mapping[str, "Field[Any]"], values: Values, key: str) -> None:
    for name, field in known.items():
        required = field.default is MISSING and field.default_factory is MISSING
        if required and values.get(name) is None:
            raise InvalidConfiguration(_join(key, name), "not set, expected a value")


def _convert(hint: Any, value: Any, key: str) -> Any:
    if is_dataclass(hint):
        return build(hint, _mapping(key, {} if value is None else value), key)  # type: ignore[arg-type]
    if get_origin(hint) is tuple:
        return _items(get_args(hint)[0], value, key)
    if get_origin(hint) is Literal:
        return _choice(get_args(hint), value, key)
    if get_origin(hint) is UnionType and NoneType in get_args(hint):
        return None if value in (None, "") else _convert(get_args(hint)[0], value, key)
    return _SCALARS[hint](value, key)


def _items(hint: Any, value: Any, key: str) -> tuple[Any, ...]:
    if isinstance(value, str):
        try:
            value = parse_yaml(value)
        except yaml.YAMLError as error:
            raise InvalidConfiguration(key, f"found {value!r}, expected a list") from error
    if not isinstance(value, list):
        raise InvalidConfiguration(key, f"found {value!r}, expected a list")
    return tuple(_convert(hint, item, f"{key}[{index}]") for index, item in enumerate(value))


def _choice(choices: tuple[Any, ...], value: Any, key: str) -> Any:
    if value not in choices:
        raise InvalidConfiguration(
            key, f"found {value!r}, expected one of: {', '.join(map(str, choices))}"
        )
    return value


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise InvalidConfiguration(key, f"found {value!r}, expected text")
    if any(character < " " for character in value):
        raise InvalidConfiguration(key, f"found {value!r}, expected one line of text")
    return value


def _path(value: Any, key: str) -> Path:
    path = Path(_text(value, key))
    if not path.is_absolute():
        raise InvalidConfiguration(key, f"found {value!r}, expected an absolute path")
    return path


def _flag(value: Any, key: str) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise InvalidConfiguration(key, f"found {value!r}, expected true or false")


def _number(value: Any, key: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InvalidConfiguration(key, f"found {value!r}, expected a number")
    try:
        return float(value)
    except ValueError:
        raise InvalidConfiguration(key, f"found {value!r}, expected a number") from None


_SCALARS: Final = {str: _text, Path: _path, bool: _flag, float: _number}


def _mapping(key: str, value: Any) -> Values:
    if not isinstance(value, dict):
        raise InvalidConfiguration(key, f"found {value!r}, expected keys and values")
    return value


def _is_key(settings: type[Any], path: list[str]) -> bool:
    hint = get_type_hints(settings).get(path[0])
    if hint is None:
        return False
    if is_dataclass(hint):
        return len(path) > 1 and _is_key(hint, path[1:])  # type: ignore[arg-type]
    return len(path) == 1


def _put(values: Values, path: list[str], value: str) -> None:
    for depth, name in enumerate(path[:-1], start=1):
        inner = values.get(name)
        values[name] = dict(_mapping(".".join(path[:depth]), {} if inner is None else inner))
        values = values[name]
    values[path[-1]] = value


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name
