"""``host:port`` as text and as a pair. Called by settings and servers."""


def split_address(text: str) -> tuple[str, int]:
    """Split ``host:port``; an IPv6 host stands in brackets. Raises ValueError."""
    host, separator, port = text.rpartition(":")
    if not separator or not host or not port.isascii() or not port.isdigit():
        raise ValueError("host:port")
    if not 0 <= int(port) <= 65535:
        raise ValueError("a port from 0 to 65535")
    return host.removeprefix("[").removesuffix("]"), int(port)


def require_address(text: str) -> str:
    """Return ``text`` if it is ``host:port``. Raises ValueError."""
    split_address(text)
    return text
