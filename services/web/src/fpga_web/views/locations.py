"""Addresses that forms name to come back to."""

from urllib.parse import urlsplit

from flask import url_for


def safe_location(wanted: str | None) -> str:
    """``wanted`` if it is a page of ours, else the first page."""
    ours = (
        wanted is not None
        and wanted.startswith("/")
        and not wanted.startswith(("//", "/\\"))
        and not any(ord(character) < 32 for character in wanted)
        and not urlsplit(wanted).netloc
    )
    return wanted if ours and wanted else url_for("overview.show")
