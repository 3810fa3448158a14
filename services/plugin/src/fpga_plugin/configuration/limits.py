"""Limits of settings that would otherwise show as a strange failure of kubelet or socket later.

``settings`` calls it once, at start.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from fpga_common.domain.errors import InvalidConfiguration
from fpga_common.domain.ids import InvalidId, require_node_name

if TYPE_CHECKING:
    from fpga_plugin.settings import PluginSettings

RESOURCE_NAME_LENGTH: Final = 63
"""The part of an extended resource's name after the slash (kubelet: IsQualifiedName)."""

SOCKET_PATH_BYTES: Final = 107
"""Bytes of a unix socket's path on Linux: sun_path holds 108 with the closing NUL."""

INTERVAL_SECONDS: Final = (0.1, 60.0)

_URL: Final = "http(s)://host[:port][/path]"
_RESOURCE_NAME: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


def check_limits(settings: "PluginSettings") -> None:
    """Raise InvalidConfiguration for the first value that the machine or kubelet would refuse."""
    _check_node(settings.node)
    _check_pools(settings)
    _check_socket("kubelet.pod_resources_socket", settings.kubelet.pod_resources_socket)
    _check_interval(settings.health.interval_seconds)
    check_address("agent.bind", settings.agent.bind)
    for key, value in (
        ("agent.address", settings.agent.address),
        ("metrics.bind", settings.metrics.bind),
    ):
        if value:
            check_address(key, value)
    _check_url("manager.url", settings.manager.url)


def check_address(key: str, value: str) -> None:
    """Raise InvalidConfiguration unless ``value`` is host:port (IPv6 hosts in brackets)."""
    host, _, port = value.rpartition(":")
    bare = ":" in host and not (host.startswith("[") and host.endswith("]"))
    if not host or bare or not port.isdecimal() or int(port) > 65535:
        raise InvalidConfiguration(key, f"found {value!r}, expected host:port")


def _check_node(node: str) -> None:
    try:
        require_node_name(node)
    except InvalidId as error:
        raise InvalidConfiguration("node", f"found {node!r}, expected {error.expected}") from error


def _check_pools(settings: "PluginSettings") -> None:
    names: set[str] = set()
    for index, pool in enumerate(settings.pools):
        key = f"pools[{index}].name"
        _check_resource_name(key, pool.name)
        if pool.name in names:
            raise InvalidConfiguration(key, f"found {pool.name!r} twice, expected distinct names")
        names.add(pool.name)
        _check_socket("kubelet.device_plugin_dir", settings.kubelet.plugin_socket(pool.name))


def _check_resource_name(key: str, name: str) -> None:
    if len(name) > RESOURCE_NAME_LENGTH:
        raise InvalidConfiguration(
            key, f"found {len(name)} characters, expected at most {RESOURCE_NAME_LENGTH}: {name}"
        )
    if not _RESOURCE_NAME.fullmatch(name):
        raise InvalidConfiguration(
            key, f"found {name!r}, expected letters, digits, '-', '_', '.', none of those at an end"
        )


def _check_socket(key: str, path: Path) -> None:
    length = len(os.fsencode(path))
    if length > SOCKET_PATH_BYTES:
        raise InvalidConfiguration(
            key,
            f"found a socket path of {length} bytes, expected at most {SOCKET_PATH_BYTES}: {path}",
        )


def _check_interval(seconds: float) -> None:
    lowest, highest = INTERVAL_SECONDS
    if not lowest <= seconds <= highest:
        raise InvalidConfiguration(
            "health.interval_seconds",
            f"found {seconds}, expected {lowest} to {highest} seconds",
        )


def _check_url(key: str, url: str) -> None:
    if not url:
        return
    try:
        parts = urlsplit(url)
        sensible = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise InvalidConfiguration(key, f"found {url!r}, expected {_URL}") from None
    if "@" in parts.netloc or parts.query or parts.fragment:  # where people put secrets
        raise InvalidConfiguration(key, f"found more than {_URL}; secrets have files of their own")
    if parts.scheme not in ("http", "https") or not sensible:
        raise InvalidConfiguration(key, f"found {url!r}, expected {_URL}")
