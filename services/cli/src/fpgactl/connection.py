"""How a command reaches the manager. The token is read late and shown nowhere."""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from fpga_common.client.manager import ManagerClient
from fpga_common.domain.errors import InvalidConfiguration

TOKEN_VARIABLE = "FPGACTL_TOKEN"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Connection:
    """Where the manager is and whose token to use.

    ``token_file_first``: the file was named on the command line and wins over FPGACTL_TOKEN.
    """

    url: str
    token_file: Path | None
    ca_file: Path | None
    token_file_first: bool = False

    def client(self) -> ManagerClient:
        """A client to be closed by the caller. Raises InvalidConfiguration."""
        url = _require_url(self.url)
        token = self._token()
        try:
            return ManagerClient(url, token, ca_file=self.ca_file)
        except OSError as error:
            raise InvalidConfiguration("--ca-file", f"{self.ca_file}: {error}") from error

    def _token(self) -> str:
        variable = os.environ.get(TOKEN_VARIABLE, "")
        if self.token_file and (self.token_file_first or not variable):
            return _require_token("--token-file", _read(self.token_file))
        if variable:
            return _require_token(TOKEN_VARIABLE, variable)
        raise InvalidConfiguration(
            "token", "none given; set FPGACTL_TOKEN_FILE (or --token-file) or FPGACTL_TOKEN"
        )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidConfiguration("--token-file", f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidConfiguration("--token-file", f"{path}: not a text file") from error


def _require_token(key: str, text: str) -> str:
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidConfiguration(key, "not a token: expected one word of printable ASCII")
    return token


def _require_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InvalidConfiguration("--url", f"{url!r}: expected http://HOST or https://HOST")
    return url.rstrip("/")
