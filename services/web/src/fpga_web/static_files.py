"""Addresses of our own static files with their checksum in them, so that browsers keep them.

Called by templates through ``app``. Vendored files are fetched at set-up; where they are missing
the pages still work, without styles of theirs and without live updates.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from flask import Response, request, url_for

from fpga_common.observability.logging import get_logger

FOLDER: Final = Path(__file__).parent / "static"
VENDORED: Final = ("pico/pico.min.css", "htmx/htmx.min.js", "htmx/hx-sse.min.js")
FOREVER: Final = "public, max-age=31536000, immutable"
log = get_logger(__name__)


@cache
def checksum(filename: str) -> str:
    """The first digits of a file's SHA-256, empty for an absent file."""
    try:
        return hashlib.sha256((FOLDER / filename).read_bytes()).hexdigest()[:12]
    except OSError:
        return ""


def static_url(filename: str) -> str:
    """The address of a static file, which changes with its content."""
    return url_for("static", filename=filename, v=checksum(filename) or None)


def keep_in_browser(response: Response) -> None:
    """Let a browser keep a file that was asked for by its checksum."""
    kept = request.endpoint == "static" and "v" in request.args and response.status_code == 200
    response.headers["Cache-Control"] = FOREVER if kept else "no-cache"


def warn_of_missing_files() -> None:
    """Log which vendored files are not there."""
    missing = [name for name in VENDORED if not (FOLDER / "vendor" / name).is_file()]
    if missing:
        log.warning("browser_files_missing", files=missing, remedy="tools/fetch_assets.py")
