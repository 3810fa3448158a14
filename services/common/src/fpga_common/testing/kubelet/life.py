"""One life of the kubelet's process: what a restart makes anew. Made by ``fake``."""

from collections.abc import Callable
from pathlib import Path

from fpga_common.testing.kubelet.admission import Admission
from fpga_common.testing.kubelet.manager import DeviceManager
from fpga_common.testing.kubelet.options import KubeletOptions
from fpga_common.testing.kubelet.pod_table import PodTable
from fpga_common.testing.kubelet.podresources import PodResources
from fpga_common.testing.kubelet.service import RegistrationService
from fpga_common.testing.kubelet.sockets import SocketServer
from fpga_common.wire.kubelet.deviceplugin.v1beta1.deviceplugin_pb2_grpc import (
    add_RegistrationServicer_to_server,
)
from fpga_common.wire.kubelet.podresources.v1.podresources_pb2_grpc import (
    add_PodResourcesListerServicer_to_server,
)


class KubeletLife:
    """Device manager, admission and the two services; serves from its making until ``stop``."""

    def __init__(
        self,
        device_plugin_dir: Path,
        pod_resources_socket: Path,
        options: KubeletOptions,
        pods: PodTable,
        refusal: Callable[[], str | None],
    ) -> None:
        self.manager = DeviceManager(device_plugin_dir, options, pods.active_uids)
        self.admission = Admission(self.manager)
        registration = RegistrationService(self.manager, refusal)
        pod_resources = PodResources(self.manager, pods.all)
        self._servers = (
            SocketServer(
                device_plugin_dir / "kubelet.sock",
                "fake-kubelet-registration",
                lambda server: add_RegistrationServicer_to_server(registration, server),
            ),
            SocketServer(
                pod_resources_socket,
                "fake-kubelet-podresources",
                lambda server: add_PodResourcesListerServicer_to_server(pod_resources, server),
            ),
        )
        for server in self._servers:
            server.start()

    def stop(self) -> None:
        """End the process; sockets stay on disk."""
        self.manager.stop()
        for server in self._servers:
            server.stop()
