"""Decides which files are absent and makes those; what exists stays byte for byte.

Called by the command; must not know settings, ledger or cluster.
"""

import ipaddress
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fpga_bitstream_manager.bootstrap.certificates import (
    KeyPair,
    hosts_of,
    issue_client,
    issue_server,
    make_authority,
    parse_pair,
)
from fpga_bitstream_manager.bootstrap.files import locked_directory, write_private
from fpga_common.domain.errors import Permanent
from fpga_common.domain.ids import require_node_name

LOCAL_HOSTS: Final = ("localhost", "127.0.0.1")
_HOST: Final = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*\.?")


class UnusableAuthority(Permanent):
    """``ca.crt`` and ``ca.key`` are not a pair; a new one would end all trust, so none is made."""

    code = "unusable_authority"


class UnusableCertificate(Permanent):
    """A kept certificate or key is not a usable pair."""

    code = "unusable_certificate"


class InvalidHost(Permanent):
    """Text that is neither a host name nor an IP address."""

    code = "invalid_host"


@dataclass(slots=True)
class Bootstrapped:
    """What a run made and what it left alone.

    ``uncovered_hosts`` were asked for, but the kept server certificate does not have them.
    """

    created: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)
    uncovered_hosts: tuple[str, ...] = ()


def bootstrap(
    directory: Path, *, nodes: tuple[str, ...] = (), hosts: tuple[str, ...] = ()
) -> Bootstrapped:
    """Make what is absent below ``directory``.

    Raises:
        UnusableAuthority: half an authority, or one that cannot be read.
        UnusableCertificate: a kept certificate does not belong to its key.
        InvalidHost: a host that no certificate can name.
        InvalidId: a node name that Kubernetes would not take.
    """
    for node in nodes:
        require_node_name(node)
    wanted = tuple(dict.fromkeys((*LOCAL_HOSTS, *(_require_host(host) for host in hosts))))
    made = Bootstrapped()
    with locked_directory(directory):
        authority = _authority(directory, made)
        _server(directory, authority, wanted, made)
        _client(directory, authority, made)
        _secret(directory / "admin-token", made)
        _secret(directory / "redis-password", made)
        for node in nodes:
            _secret(directory / "nodes" / f"{node}.token", made)
    return made


def _require_host(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        if len(host) > 253 or not _HOST.fullmatch(host):
            raise InvalidHost(
                f"not a host: {host!r}", expected="a DNS name or an IP address", actual=host
            ) from None
        return host.lower()


def _authority(directory: Path, made: Bootstrapped) -> KeyPair:
    certificate, key = directory / "ca.crt", directory / "ca.key"
    if not certificate.exists() and not key.exists():
        pair = make_authority()
        _store(certificate, key, pair, made)
        return pair
    try:
        pair = parse_pair(certificate.read_bytes(), key.read_bytes())
    except (OSError, ValueError) as error:
        raise UnusableAuthority(
            f"{certificate} and {key} are not a usable pair: {error}"
        ) from error
    made.kept += [certificate, key]
    return pair


def _kept(certificate: Path, key: Path, made: Bootstrapped) -> KeyPair | None:
    if not (certificate.exists() and key.exists()):
        return None
    try:
        pair = parse_pair(certificate.read_bytes(), key.read_bytes())
    except ValueError as error:
        message = f"{certificate} and {key} are not a usable pair: {error}; remove both"
        raise UnusableCertificate(message) from error
    made.kept += [certificate, key]
    return pair


def _server(
    directory: Path, authority: KeyPair, hosts: tuple[str, ...], made: Bootstrapped
) -> None:
    certificate, key = directory / "manager-server.crt", directory / "manager-server.key"
    kept = _kept(certificate, key, made)
    if kept is None:
        _store(certificate, key, issue_server(authority, hosts), made)
        return
    covered = hosts_of(kept.certificate)
    made.uncovered_hosts = tuple(host for host in hosts if host not in covered)


def _client(directory: Path, authority: KeyPair, made: Bootstrapped) -> None:
    certificate, key = directory / "manager-client.crt", directory / "manager-client.key"
    if _kept(certificate, key, made) is None:
        _store(certificate, key, issue_client(authority), made)


def _store(certificate: Path, key: Path, pair: KeyPair, made: Bootstrapped) -> None:
    write_private(key, pair.key_pem)
    write_private(certificate, pair.certificate_pem)
    made.created += [certificate, key]


def _secret(path: Path, made: Bootstrapped) -> None:
    if path.exists():
        made.kept.append(path)
        return
    write_private(path, secrets.token_urlsafe(32).encode())
    made.created.append(path)
