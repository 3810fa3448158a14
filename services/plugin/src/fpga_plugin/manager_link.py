"""The way to the bitstream manager's internal REST API: address, trust and the node's token.

Used by ``report`` and ``agent.fetching``. Standard library only, to stay small on every node.
"""

import http.client
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from fpga_common.domain.errors import Permanent, Temporary
from fpga_plugin.settings import ManagerSettings

_ANSWER_START_BYTES: Final = 200


class ManagerUnreachable(Temporary):
    """No answer: the network, the name, the certificate, or a time-out."""

    code = "manager_unreachable"


class ManagerNotConfigured(Permanent):
    """``manager.url`` is empty."""

    code = "manager_not_configured"


class ManagerRefused(Temporary):
    """An answer other than success; ``status`` is the HTTP status."""

    code = "manager_refused"

    def __init__(self, status: int, text: str) -> None:
        super().__init__(
            f"the manager answered {status}: {text}", expected="200", actual=str(status)
        )
        self.status = status


@dataclass(frozen=True, slots=True)
class ManagerLink:
    """Makes one connection a request. The token file is read each time: tokens are renewed."""

    settings: ManagerSettings

    @contextmanager
    def request(
        self,
        method: str,
        path: str,
        *,
        timeout: float,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[http.client.HTTPResponse]:
        """The answer to one request, its body not read yet; ``timeout`` is a read's, in seconds.

        Raises:
            ManagerUnreachable: no answer, also while the body is read inside the block.
            ManagerRefused: a status other than 200.
            ManagerNotConfigured: there is no manager.
        """
        connection = self._connect(timeout)
        try:
            connection.request(
                method, self._path(path), body=body, headers={**self._headers(), **(headers or {})}
            )
            with connection.getresponse() as response:
                if response.status != http.client.OK:
                    raise ManagerRefused(response.status, _start_of(response))
                yield response
        # UnicodeError: a host name that the resolver cannot encode.
        except (OSError, UnicodeError, http.client.HTTPException) as error:
            raise ManagerUnreachable(f"{self.settings.url}: {_words(error)}") from error
        finally:
            connection.close()

    def _path(self, path: str) -> str:
        return urlsplit(self.settings.url).path.rstrip("/") + quote(path)

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if not self.settings.url:
            raise ManagerNotConfigured("manager.url is empty")
        parts = urlsplit(self.settings.url)
        host = parts.hostname or ""
        if parts.scheme == "http":
            return http.client.HTTPConnection(host, parts.port, timeout=timeout)
        return http.client.HTTPSConnection(host, parts.port, timeout=timeout, context=self._trust())

    def _trust(self) -> ssl.SSLContext:
        ca_file = self.settings.ca_file
        try:
            return ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
        except OSError as error:
            raise ManagerUnreachable(f"manager.ca_file {ca_file}: {error}") from error

    def _headers(self) -> dict[str, str]:
        token = _token(self.settings.token_file)
        return {"Authorization": f"Bearer {token}"} if token else {}


def _token(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise ManagerUnreachable(f"manager.token_file {path}: {error}") from error
    if not token.isprintable() or " " in token:
        # http.client would name it in its own refusal, and so would every log.
        raise ManagerUnreachable(f"manager.token_file {path}: expected one line with one token")
    return token


def _start_of(response: http.client.HTTPResponse) -> str:
    return response.read(_ANSWER_START_BYTES).decode(errors="replace").strip()


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
