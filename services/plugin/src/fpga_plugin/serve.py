"""``fpga-plugin serve``: puts the parts together, keeps them running, ends them in order.

The only module that knows every part. Called by ``cli``.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, Protocol

from fpga_common.bitstream import inspect
from fpga_common.domain.errors import FpgaError, InvalidConfiguration
from fpga_common.observability.logging import configure_logging, get_logger
from fpga_plugin.agent.certificate import ensure_certificate
from fpga_plugin.agent.cordoning import Cordoning
from fpga_plugin.agent.draining import Drain
from fpga_plugin.agent.fetching import BitstreamCache
from fpga_plugin.agent.handover import Handover
from fpga_plugin.agent.journal import Journal
from fpga_plugin.agent.operations import Operations
from fpga_plugin.agent.programming import Programming
from fpga_plugin.agent.recovery import settle_interrupted
from fpga_plugin.agent.reservations import Reservations
from fpga_plugin.agent.server import AgentServer, require_safe
from fpga_plugin.agent.servicer import NodeAgent
from fpga_plugin.agent.telemetry import Telemetry
from fpga_plugin.backends import default_backends
from fpga_plugin.inventory.store import InventoryStore
from fpga_plugin.manager_link import ManagerLink
from fpga_plugin.memory import give_back_memory, share_memory_pools
from fpga_plugin.metrics import MetricsServer, MetricsView, PluginMetrics
from fpga_plugin.node_view import metrics_view, node_state
from fpga_plugin.programmers.registry import Programmers
from fpga_plugin.report.document import Document, NodeState
from fpga_plugin.report.facts import advertised_address, node_facts
from fpga_plugin.report.reporter import ReportChannel, Reporter
from fpga_plugin.scheduling import answer_quickly
from fpga_plugin.settings import PluginSettings
from fpga_plugin.state.lock import StateUnusable, locked_state
from fpga_plugin.without_kubelet import NoKubelet

DRAIN_SECONDS: Final = 20.0
"""How long the kubelet has to let go of a region; it takes an update in about 20 ms."""

FINISH_SECONDS: Final = 320.0
"""Longest wait for a write at the end; writes themselves are bounded below this."""

_WATCH_SECONDS: Final = 1.0

log = get_logger(__name__)


class KubeletPart(Protocol):
    """``kubelet.KubeletSide``, or what stands in for it."""

    @property
    def holders(self) -> Any:
        """Who holds what."""
        ...

    def start(self) -> None:
        """Serve and register."""
        ...

    def stop(self) -> None:
        """Remove the sockets."""
        ...

    def pool_reports(self) -> list[dict[str, Any]]:
        """The extended resources."""
        ...


def run(settings: PluginSettings) -> int:
    """Serve until SIGTERM or SIGINT.

    Returns 0 after an orderly end; 1 where another process serves or the state cannot be kept.
    Raises InvalidConfiguration before anything is started.
    """
    share_memory_pools()
    answer_quickly()
    configure_logging(level=settings.log.level, log_format=settings.log.format)
    require_safe(settings.agent)
    with _ended_by_signal() as ended:
        try:
            with locked_state(settings.state_dir):
                _serve(settings, ended)
        except InvalidConfiguration:
            raise
        except FpgaError as error:
            print(f"fpga-plugin: {error.message}", file=sys.stderr)  # noqa: T201
            return 1
    return 0


def _make_plugin(settings: PluginSettings) -> "Plugin":
    try:
        return Plugin(settings)
    except OSError as error:
        raise StateUnusable(f"state_dir {settings.state_dir}: {error}") from error


def _serve(settings: PluginSettings, ended: threading.Event) -> None:
    if not (settings.host_root / "sys").is_dir():
        log.warning("host_root_without_sys", host_root=str(settings.host_root))
    plugin = _make_plugin(settings)
    try:
        plugin.start()
        give_back_memory()
        log.info("plugin_started", node=settings.node)
        ended.wait()
    finally:
        log.info("plugin_stopping", node=settings.node)
        plugin.stop()
        log.info("plugin_stopped", node=settings.node)


class Plugin:
    """All parts of one node's plugin."""

    def __init__(self, settings: PluginSettings) -> None:
        self._settings = settings
        self._stopping = threading.Event()
        self._reservations = Reservations(settings.state_dir)
        self._journal = Journal(settings.state_dir)
        settle_interrupted(self._journal, self._reservations)
        self._store = make_store(settings, self._reservations)
        self._kubelet = _make_kubelet(settings, self._store)
        self._metrics = PluginMetrics(self._metrics_view)
        self._metrics_server = _make_metrics_server(settings, self._metrics)
        self._link = ManagerLink(settings.manager)
        self._operations = Operations(
            self._journal, self._make_programming().carry_out, self._metrics
        )
        self._telemetry = Telemetry(self._store.snapshot)
        self._facts = node_facts()
        self._agent = self._make_agent()
        self._reporter = Reporter(ReportChannel(self._link, settings.node), self._node_state)
        self._watcher = threading.Thread(target=self._watch, name="report-watch", daemon=True)

    def start(self) -> None:
        """Start reading, serve the kubelet, then the manager."""
        self._store.start()
        self._kubelet.start()
        if self._metrics_server is not None:
            self._metrics_server.start()
        self._telemetry.start()
        self._agent.start()
        self._start_reports()

    def stop(self) -> None:
        """End in order: no new operation, finish the write, then let go of everything else."""
        if not self._operations.stop(FINISH_SECONDS):
            log.error("write_not_finished", seconds=FINISH_SECONDS)
        self._stopping.set()
        self._agent.stop()
        self._reporter.stop()
        self._kubelet.stop()
        self._telemetry.stop()
        self._store.stop()
        if self._metrics_server is not None:
            self._metrics_server.stop()

    def _make_agent(self) -> AgentServer:
        settings = self._settings
        cordoning = Cordoning(self._store, self._reservations)
        servicer = NodeAgent(
            settings.node, self._store, self._operations, cordoning, self._telemetry
        )
        return AgentServer(
            settings.agent,
            lambda: ensure_certificate(settings.state_dir, settings.node),
            servicer,
        )

    def _start_reports(self) -> None:
        if not self._settings.manager.url:
            log.info("reports_off", reason="manager.url is empty")
            return
        self._kubelet.holders.on_change = self._reporter.wake
        self._reporter.start()
        self._watcher.start()

    def _watch(self) -> None:
        revision = self._store.snapshot().revision
        while not self._stopping.is_set():
            seen = self._store.wait_for_change(revision, _WATCH_SECONDS).revision
            if seen != revision:
                revision = seen
                self._reporter.wake()

    def _make_programming(self) -> Programming:
        settings = self._settings
        drain = Drain(self._kubelet.holders, DRAIN_SECONDS)
        return Programming(
            self._store,
            BitstreamCache(settings.state_dir, self._link),
            Programmers(settings.host_root),
            Handover(self._store, self._reservations, drain),
            inspect,
        )

    def _node_state(self) -> NodeState:
        return node_state(
            self._settings.node,
            self._store.snapshot().cards,
            self._kubelet.holders.current(),
            self._kubelet.pool_reports(),
            self._facts,
            self._agent_document(),
        )

    def _agent_document(self) -> Document | None:
        endpoint, settings = self._agent.endpoint, self._settings
        if endpoint is None:
            return None
        return {
            "address": advertised_address(settings.agent, settings.manager.url, endpoint.port),
            "certificate_pem": endpoint.certificate_pem,
        }

    def _metrics_view(self) -> MetricsView:
        return metrics_view(
            self._store.snapshot().cards,
            self._kubelet.holders.current(),
            self._kubelet.pool_reports(),
        )


def make_store(settings: PluginSettings, reservations: Reservations) -> InventoryStore:
    """The inventory store of the host, with the reservations over it; not started."""
    return InventoryStore(
        default_backends(settings.host_root),
        interval_seconds=settings.health.interval_seconds,
        overlay=reservations.apply,
    )


def _make_kubelet(settings: PluginSettings, store: InventoryStore) -> KubeletPart:
    if not settings.kubelet.enabled:
        return NoKubelet()
    from fpga_plugin.kubelet import KubeletSide

    return KubeletSide(settings, store)


def _make_metrics_server(settings: PluginSettings, metrics: PluginMetrics) -> MetricsServer | None:
    if not settings.metrics.bind:
        return None
    return MetricsServer(settings.metrics.bind, metrics.registry)


@contextmanager
def _ended_by_signal() -> Iterator[threading.Event]:
    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        ended.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
