"""Wished-for ports, when several platforms start on one machine at the same moment."""

import socket

from fpga_common.testing.waiting import free_port, listening


class PortClaims:
    """Says which platform may use a port before anything listens there.

    A claim is a name in the kernel's abstract socket namespace: it ends with the process.
    """

    def __init__(self) -> None:
        self._claims: list[socket.socket] = []

    def claim(self, wished: int | None) -> int:
        """``wished`` if nobody uses or claims it, else another free port."""
        if wished is None or listening(wished) or not self._take(wished):
            return free_port()
        return wished

    def release(self) -> None:
        """Give every claim back."""
        while self._claims:
            self._claims.pop().close()

    def _take(self, port: int) -> bool:
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0fpga-platform-port-{port}")
        except OSError:
            claim.close()
            return False
        self._claims.append(claim)
        return True
