"""Who is signed in: the manager's session in a signed cookie that scripts cannot read.

The cookie holds the manager's opaque session, never the token that was typed. Used by views and
``manager``.
"""

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flask import Flask, request
from flask import session as cookie
from flask.sessions import SecureCookieSessionInterface

from fpga_common.contract.access import Role, SessionCreated
from fpga_common.domain.errors import InvalidConfiguration
from fpga_common.observability.logging import get_logger

COOKIE_NAME: Final = "fpga_console"
SHORTEST_KEY: Final = 16
log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The user of a request. ``token`` is the manager's session and secret."""

    token: str
    name: str
    role: Role

    @property
    def may_change(self) -> bool:
        """Whether buttons that change something are shown; the manager decides for itself."""
        return self.role is not Role.VIEWER


class CookieInterface(SecureCookieSessionInterface):
    """Flask's signed cookie, Secure whenever the browser came by HTTPS."""

    def get_cookie_secure(self, app: Flask) -> bool:
        """Whether this request came by TLS, also through a trusted proxy."""
        return request.is_secure


def prepare(app: Flask, secret_key_file: str) -> None:
    """Configure the cookie. Raises InvalidConfiguration for an unusable key."""
    app.secret_key = _key(secret_key_file)
    app.session_interface = CookieInterface()
    app.config.update(
        SESSION_COOKIE_NAME=COOKIE_NAME,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_PATH="/",
    )


def current_session() -> SignedIn | None:
    """Who is signed in, None for nobody."""
    try:
        return SignedIn(cookie["session"], cookie["name"], Role(cookie["role"]))
    except (KeyError, ValueError):
        return None


def sign_in(session: SessionCreated) -> None:
    """Remember the manager's session in the cookie."""
    theme = cookie.get("theme")
    cookie.clear()
    cookie.update(session=session.session, name=session.name, role=session.role.value)
    if theme:
        cookie["theme"] = theme


def sign_out() -> None:
    """Forget it."""
    for key in ("session", "name", "role"):
        cookie.pop(key, None)


def _key(path: str) -> str:
    if not path:
        log.warning("cookie_key_is_temporary", consequence="a restart signs everybody out")
        return secrets.token_hex(32)
    try:
        key = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfiguration("secret_key_file", f"{path}: {error}") from error
    if len(key) < SHORTEST_KEY:
        raise InvalidConfiguration(
            "secret_key_file", f"found {len(key)} characters, expected at least {SHORTEST_KEY}"
        )
    return key
