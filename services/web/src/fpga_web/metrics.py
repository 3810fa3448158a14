"""What the console counts of itself. Filled by ``app`` after every request."""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram, start_http_server

from fpga_common.settings.addresses import split_address

REQUESTS: Final = Counter("fpga_web_requests_total", "Requests answered.", ["endpoint", "status"])
SECONDS: Final = Histogram(
    "fpga_web_request_seconds",
    "Time to answer a request, streams to their first byte.",
    ["endpoint"],
)
STREAMS: Final = Gauge("fpga_web_streams", "Browsers that follow a load at the moment.")


def serve_metrics(bind: str) -> None:
    """Answer ``/metrics`` on ``host:port`` from a daemon thread."""
    host, port = split_address(bind)
    start_http_server(port, host)
