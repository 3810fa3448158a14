"""Where this machine reaches what is bound to an address."""


def local_address(bind: str) -> tuple[str, int]:
    """Host and port to connect to; a wildcard is reached on loopback."""
    host, _, port = bind.rpartition(":")
    host = host.strip("[]")
    wildcards = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
    return wildcards.get(host, host), int(port)
