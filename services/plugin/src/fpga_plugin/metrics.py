"""The plugin's metrics and its ``/healthz``, over HTTP. Started by ``serve``.

Gauges are read from a snapshot at each scrape; only operations are counted as they happen. Labels
are ids of this node's own cards and words of closed sets.
"""

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from fpga_common.domain.card import Card, Region, RegionState
from fpga_common.domain.errors import InvalidConfiguration
from fpga_common.observability.logging import get_logger

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
REQUEST_SECONDS: Final = 10.0

_SECONDS_BUCKETS: Final = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MetricsView:
    """What a scrape shows: cards, ids of held devices, and which resources are registered."""

    cards: tuple[Card, ...]
    held: frozenset[str]
    registered: dict[str, bool]


class PluginMetrics:
    """Everything the plugin counts and shows."""

    def __init__(self, view: Callable[[], MetricsView]) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(_NodeCollector(view))
        ProcessCollector(registry=self.registry)
        self._operations = Counter(
            "fpga_operation",
            "Programming operations that ended, by ok or failure code.",
            ["outcome"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "fpga_operation_duration_seconds",
            "From the acceptance of a programming operation to its end.",
            buckets=_SECONDS_BUCKETS,
            registry=self.registry,
        )

    def operation_ended(self, outcome: str, seconds: float) -> None:
        """Count one ended operation; ``outcome`` is ``ok`` or a FailureCode's value."""
        self._operations.labels(outcome).inc()
        self._seconds.observe(seconds)


class MetricsServer:
    """Serves ``/metrics`` and ``/healthz`` in threads of its own."""

    def __init__(self, bind: str, registry: CollectorRegistry) -> None:
        host, _, port = bind.rpartition(":")
        try:
            self._server = _Server(host.strip("[]"), int(port), _handler(registry))
        except OSError as error:
            raise InvalidConfiguration("metrics.bind", f"{bind}: {error}") from error
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="metrics", daemon=True
        )

    def start(self) -> None:
        """Answer requests."""
        self._thread.start()

    def stop(self) -> None:
        """Close the port."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(REQUEST_SECONDS)
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), handler)

    def server_bind(self) -> None:
        """Bind without asking name servers for the host's name, as HTTPServer does."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]


class _NodeCollector(Collector):
    def __init__(self, view: Callable[[], MetricsView]) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        view = self._view()
        yield from _region_metrics(view)
        yield _temperatures(view.cards)
        registered = _gauge("fpga_plugin_registered", "1: the kubelet took the pool.", "resource")
        for resource, value in view.registered.items():
            registered.add_metric([resource], float(value))
        yield registered


def _region_metrics(view: MetricsView) -> Iterator[Metric]:
    healthy = _gauge("fpga_device_healthy", "1: may be handed out.", "device")
    held = _gauge("fpga_device_held", "1: a pod or a process holds it.", "device")
    state = _gauge("fpga_region_state", "1 for the region's state.", "device", "state")
    for region in (region for card in view.cards for region in card.regions):
        healthy.add_metric([region.id], float(_allocatable(region)))
        held.add_metric([region.id], float(region.id in view.held))
        for candidate in RegionState:
            state.add_metric([region.id, candidate.value], float(region.state is candidate))
    yield from (healthy, held, state)


def _allocatable(region: Region) -> bool:
    usable = region.state in (RegionState.READY, RegionState.STATIC)
    return usable and region.health.allocatable


def _temperatures(cards: Sequence[Card]) -> Metric:
    family = _gauge("fpga_card_temperature_celsius", "The card's own sensor.", "card")
    for card in cards:
        if (value := card.sensors.get("temperature_celsius")) is not None:
            family.add_metric([card.id], value)
    return family


def _gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=labels)


def _handler(registry: CollectorRegistry) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = REQUEST_SECONDS
        server_version = "fpga-plugin"
        sys_version = ""

        def do_GET(self) -> None:
            if self.path == "/healthz":
                self._answer(HTTPStatus.OK, b"ok\n")
            elif self.path.split("?")[0] == "/metrics":
                self._answer(HTTPStatus.OK, generate_latest(registry))
            else:
                self._answer(HTTPStatus.NOT_FOUND, b"not found\n")

        def _answer(self, status: HTTPStatus, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
            log.debug("metrics_request", line=format % arguments)

    return Handler
