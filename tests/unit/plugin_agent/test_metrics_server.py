"""Where metrics are served."""

import socket
import urllib.request

import pytest

from fpga_common.domain.errors import InvalidConfiguration
from fpga_plugin.metrics import MetricsServer, MetricsView, PluginMetrics


def _server(bind: str) -> MetricsServer:
    metrics = PluginMetrics(lambda: MetricsView((), frozenset(), {}))
    return MetricsServer(bind, metrics.registry)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_metrics_are_served_on_either_kind_of_address(host: str) -> None:
    if host == "[::1]" and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    server = _server(f"{host}:0")
    server.start()
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://{host}:{server.port}/healthz", timeout=10.0) as answer:
            assert answer.read() == b"ok\n"
    finally:
        server.stop()


def test_no_name_server_is_asked_before_metrics_are_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def ask(name: str = "") -> str:
        raise AssertionError(f"asked for {name}")

    monkeypatch.setattr("socket.getfqdn", ask)
    _server("127.0.0.1:0").stop()


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InvalidConfiguration, match=r"metrics\.bind"):
            _server(bind)
