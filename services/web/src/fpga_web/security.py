"""Headers of every answer, and the refusal of requests that another site made a browser send.

Called by ``app`` around every request. Cross-site requests are told by what browsers say of
themselves (Sec-Fetch-Site, else Origin), besides the cookie's SameSite.
"""

from typing import Final
from urllib.parse import urlsplit

from flask import Request, Response

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})

CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
HSTS: Final = "max-age=31536000"


def from_another_site(request: Request) -> bool:
    """Whether a request that changes something did not come from one of our own pages.

    A request that says nothing of where it comes from is refused too: browsers always say.
    """
    if request.method in SAFE_METHODS:
        return False
    fetch_site = request.headers.get("Sec-Fetch-Site")
    if fetch_site is not None:
        return fetch_site != "same-origin"
    origin = request.headers.get("Origin")
    return origin is None or urlsplit(origin).netloc != request.host


def add_headers(response: Response, *, secure: bool) -> Response:
    """Set the headers; pages and fragments are never stored by browser or proxy."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if secure:
        response.headers.setdefault("Strict-Transport-Security", HSTS)
    response.headers.setdefault("Cache-Control", "no-store")
    response.vary.add("Cookie")
    response.vary.add("HX-Request")
    return response
