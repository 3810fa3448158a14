"""The whole of the kubelet side: every pool served, kept current and registered."""

import threading
from typing import Any, Final

from fpga_common.domain.simulation import is_simulated
from fpga_common.observability.logging import get_logger
from fpga_plugin.kubelet.holders import Holders
from fpga_plugin.kubelet.journal import HoldJournal
from fpga_plugin.kubelet.podresources import PodResourcesReader
from fpga_plugin.kubelet.pool_state import PoolState
from fpga_plugin.kubelet.ports import Inventory
from fpga_plugin.kubelet.registrar import Registrar
from fpga_plugin.kubelet.servicer import DevicePlugin
from fpga_plugin.settings import PluginSettings, PoolSettings

FEED_SECONDS: Final = 0.2
"""Longest time between looks at the inventory: vanished devices leave the list that late."""

STOP_SECONDS: Final = 3.0

log = get_logger(__name__)


class KubeletSide:
    """Started and stopped by ``serve``."""

    def __init__(self, settings: PluginSettings, store: Inventory) -> None:
        self._settings = settings
        self._inventory = store
        reader = PodResourcesReader(
            settings.kubelet.pod_resources_socket, (pool.resource for pool in settings.pools)
        )
        self.holders = Holders(HoldJournal(settings.state_dir), reader)
        self._simulated = is_simulated(settings.host_root)
        self._states = [
            PoolState(pool, settings.pools[:index]) for index, pool in enumerate(settings.pools)
        ]
        self._registrars = [self._make_registrar(state) for state in self._states]
        self._stopping = threading.Event()
        self._feed_thread = threading.Thread(target=self._feed, name="pool-feed", daemon=True)

    def start(self) -> None:
        """Take the inventory in, then serve and register each pool; returns at once."""
        self._refresh()
        self._feed_thread.start()
        self.holders.start()
        for registrar in self._registrars:
            registrar.start()

    def stop(self) -> None:
        """Let go of the kubelet: streams end, sockets are removed, the journal is closed."""
        self._stopping.set()
        for registrar in self._registrars:
            registrar.stop()
        if self._feed_thread.is_alive():
            self._feed_thread.join(STOP_SECONDS)
        self.holders.stop()

    def pool_reports(self) -> list[dict[str, Any]]:
        """Each pool with the fields of ``fpga_common.contract.report.PoolReport``."""
        return [
            _pool_report(state, registrar)
            for state, registrar in zip(self._states, self._registrars, strict=True)
        ]

    def _make_registrar(self, state: PoolState) -> Registrar:
        pool: PoolSettings = state.pool

        def make_plugin() -> DevicePlugin:
            return DevicePlugin(state, self._inventory, self.holders, simulated=self._simulated)

        socket_path = self._settings.kubelet.plugin_socket(pool.name)
        return Registrar(pool.resource, socket_path, make_plugin)

    def _feed(self) -> None:
        revision = self._inventory.snapshot().revision
        while not self._stopping.is_set():
            try:
                revision = self._inventory.wait_for_change(revision, FEED_SECONDS).revision
                self._refresh()
            except Exception:
                # Without this thread the kubelet would never hear of a fault again.
                log.exception("pool_feed_failed")
                self._stopping.wait(FEED_SECONDS)

    def _refresh(self) -> None:
        snapshot = self._inventory.snapshot()
        for state in self._states:
            state.refresh(snapshot)


def _pool_report(state: PoolState, registrar: Registrar) -> dict[str, Any]:
    devices = state.listing.devices
    return {
        "resource": state.pool.resource,
        "devices": [device.id for device in devices],
        "healthy": sum(device.healthy for device in devices),
        "registered": registrar.registered,
        "registration_error": registrar.error,
    }
