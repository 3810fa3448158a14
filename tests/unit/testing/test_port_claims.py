"""Ports of platforms that start at the same moment."""

import socket

from fpga_common.testing.platform.ports import PortClaims
from fpga_common.testing.waiting import free_port


def test_a_wished_port_is_given_to_one_platform_until_it_is_released() -> None:
    first, second = PortClaims(), PortClaims()
    wished = free_port()
    assert first.claim(wished) == wished
    assert second.claim(wished) != wished
    first.release()
    assert second.claim(wished) == wished
    second.release()


def test_a_port_in_use_is_not_given_to_anybody() -> None:
    claims = PortClaims()
    with socket.create_server(("127.0.0.1", 0)) as server:
        used = server.getsockname()[1]
        assert claims.claim(used) != used


def test_without_a_wish_any_free_port_will_do() -> None:
    assert PortClaims().claim(None) > 0
