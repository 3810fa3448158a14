"""The manager as the console sees it: one pool of connections, a client for each request.

Used by every view. No view calls the manager in another way, and no client here has rights of its
own: each carries the session of the user who asks.
"""

from pathlib import Path
from typing import Final

from flask import current_app, g

from fpga_common.client import ManagerClient, ManagerProblem, ManagerUnavailable
from fpga_common.domain.errors import InvalidConfiguration
from fpga_web.session import current_session
from fpga_web.settings import ManagerSettings

STREAM_SECONDS: Final = 40.0
UPLOAD_SECONDS: Final = 120.0
PROBE_SECONDS: Final = 2.0
_EXTENSION: Final = "fpga_manager"


def connect(settings: ManagerSettings) -> ManagerClient:
    """The process's pool. Raises InvalidConfiguration for an unusable authority file."""
    try:
        return ManagerClient(
            settings.url,
            ca_file=Path(settings.ca_file) if settings.ca_file else None,
            timeout=settings.timeout_seconds,
        )
    except OSError as error:
        raise InvalidConfiguration("manager.ca_file", f"{settings.ca_file}: {error}") from error


def share(pool: ManagerClient) -> None:
    """Make the pool known to the current application."""
    current_app.extensions[_EXTENSION] = pool


def manager(*, timeout: float | None = None) -> ManagerClient:
    """The manager under the signed-in user's session; ``timeout`` in seconds."""
    session = current_session()
    return with_token(session.token if session else None, timeout=timeout)


def with_token(token: str | None, *, timeout: float | None = None) -> ManagerClient:
    """The manager under a token."""
    pool: ManagerClient = current_app.extensions[_EXTENSION]
    return pool.with_token(token, timeout=timeout, headers={"X-Request-Id": g.request_id})


def reachable() -> bool:
    """Whether the manager answers at all, for pages that need nothing of it."""
    try:
        with_token(None, timeout=PROBE_SECONDS).raw("/healthz")
    except ManagerUnavailable:
        return False
    except ManagerProblem as problem:
        return problem.status < 500
    return True
