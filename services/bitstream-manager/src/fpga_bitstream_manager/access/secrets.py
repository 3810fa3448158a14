"""Secrets: made, hashed, compared, read from files."""

import hashlib
import hmac
import secrets
from pathlib import Path
from typing import Final

PREFIX: Final = "fpga_"
SECRET_BYTES: Final = 32


def new_secret() -> str:
    """A new random secret of 256 bits, recognisable by secret scanners."""
    return PREFIX + secrets.token_urlsafe(SECRET_BYTES)


def hash_of(secret: str) -> str:
    """What is stored: SHA-256; a slow hash protects only guessable secrets, which these are not."""
    return hashlib.sha256(secret.encode()).hexdigest()


def same(one: str, other: str) -> bool:
    """Compare two hashes in constant time."""
    return hmac.compare_digest(one, other)


class SecretFile:
    """The hash of a file's secret, read anew when the file changes or appears."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int, int] | None = None
        self._hash: str | None = None

    def hash(self) -> str | None:
        """The secret's hash, None while the file is absent, unreadable or empty."""
        try:
            status = self.path.stat()
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
            if seen != self._seen:
                text = self.path.read_text(encoding="utf-8").strip()
                self._hash, self._seen = (hash_of(text) if text else None), seen
        except (OSError, UnicodeDecodeError):
            self._hash, self._seen = None, None
        return self._hash
