"""Counts of nodes, devices and loads for Prometheus, read from the ledger at each scrape.

Registered by ``api.app``. While the ledger is away the counts are missing, never old.
"""

from collections.abc import Iterable, Mapping

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from fpga_bitstream_manager.ledger import LedgerUnavailable
from fpga_bitstream_manager.overview import overview, system
from fpga_bitstream_manager.services import Services
from fpga_common.contract.system import Overview


class ClusterCollector(Collector):
    """The overview as gauges."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def describe(self) -> Iterable[Metric]:
        """Nothing: the names are known without asking the ledger at registration."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Called at each scrape."""
        parts = {part.name: float(part.ok) for part in system(self._services).components}
        yield _gauge(
            "component_up", "Whether something the manager needs answers.", "component", parts
        )
        try:
            with self._services.ledger.reading() as session:
                counts = overview(session, self._services.heartbeats, self._services.clock())
        except LedgerUnavailable:
            return
        yield from _counts(counts)


def _counts(counts: Overview) -> Iterable[Metric]:
    nodes = {"fresh": counts.nodes - counts.nodes_stale, "stale": counts.nodes_stale}
    yield _gauge("nodes", "Nodes that have ever reported.", "state", nodes)
    yield _gauge("devices", "Devices by shown health.", "health", counts.devices_by_health)
    yield _gauge("loads", "Loads by state.", "state", counts.loads_by_state)
    yield GaugeMetricFamily(
        "fpga_manager_devices_held", "Devices that somebody holds.", counts.devices_held
    )
    yield GaugeMetricFamily(
        "fpga_manager_devices_drifted",
        "Devices whose AFU is not the desired one.",
        counts.devices_drifted,
    )


def _gauge(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(f"fpga_manager_{name}", text, labels=[label])
    for value, count in values.items():
        family.add_metric([value], count)
    return family
