"""One simulated node: cards, a FakeKubelet and the real node plugin as a process."""

import threading
from pathlib import Path

from fpga_common.domain.names import DEFAULT_RESOURCE
from fpga_common.testing.kubelet import FakeKubelet
from fpga_common.testing.platform.layout import (
    OUR_VARIABLES,
    Layout,
    console_script,
    plugin_configuration,
    write_configuration,
)
from fpga_common.testing.processes import Process
from fpga_common.testing.sim import SimulatedHost
from fpga_common.testing.waiting import free_port, wait_for


class SimulatedNode:
    """A node named ``name`` with the given card profiles.

    ``plugin_command`` is by default the one beside the running interpreter. ``start`` starts the
    kubelet and the plugin and returns at once; ``wait_registered`` waits.
    """

    def __init__(
        self,
        layout: Layout,
        name: str,
        *,
        sockets: Path,
        profiles: tuple[str, ...] = ("pac-a10", "pac-a10"),
        manager_url: str = "",
        programming_seconds: float = 1.0,
        plugin_command: str | None = None,
    ) -> None:
        self.name = name
        self._plugin_command = plugin_command or console_script("fpga-plugin")
        self._layout = layout
        folder = layout.node(name)
        self.host = SimulatedHost(folder / "host")
        for index, profile in enumerate(profiles):
            card = self.host.add_card(profile, numa_node=index % 2)
            card.set_programming_seconds(programming_seconds)
        self.kubelet = FakeKubelet(sockets / name)
        self.agent_port = free_port()
        self.metrics_port = free_port()
        self._configuration = write_configuration(
            folder / "plugin.yaml",
            plugin_configuration(
                layout,
                name,
                host_root=folder / "host",
                kubelet={
                    "device_plugin_dir": str(self.kubelet.device_plugin_dir),
                    "pod_resources_socket": str(self.kubelet.pod_resources_socket),
                },
                agent_port=self.agent_port,
                metrics_port=self.metrics_port,
                manager_url=manager_url,
            ),
        )
        self.plugin: Process | None = None

    def start(self) -> None:
        """Start the kubelet and the plugin."""
        self.kubelet.start()
        self.start_plugin()

    def start_plugin(self) -> Process:
        """Start the plugin's process."""
        self.plugin = Process(
            f"plugin of {self.name}",
            [self._plugin_command, "serve", "--config", str(self._configuration)],
            log=self._layout.logs / f"plugin-{self.name}.log",
            unset=OUR_VARIABLES,
        )
        return self.plugin

    def stop_plugin(self) -> None:
        """End the plugin's process in peace."""
        plugin, self.plugin = self.plugin, None
        if plugin is not None:
            plugin.stop()

    def wait_registered(
        self, timeout: float = 30.0, cancelled: threading.Event | None = None
    ) -> None:
        """Wait until the kubelet can allocate every card.

        Raises ProcessEnded, TimeoutError, Cancelled.
        """
        wait_for(
            lambda: self.allocatable() == len(self.host.cards),
            timeout=timeout,
            what=f"{self.name} offering {len(self.host.cards)} devices",
            cancelled=cancelled,
        )

    def allocatable(self, resource: str = DEFAULT_RESOURCE) -> int:
        """How many devices the kubelet could give to pods now."""
        if self.plugin is not None:
            self.plugin.require_running()
        found = self.kubelet.resources().get(resource)
        return found.allocatable if found else 0

    def stop(self) -> None:
        """End plugin and kubelet."""
        try:
            self.stop_plugin()
        finally:
            self.kubelet.close()
