"""One pool's gRPC server on its own socket, for one registration."""

import contextlib
from concurrent import futures
from pathlib import Path
from typing import Final

import grpc

from fpga_common.domain.errors import Temporary
from fpga_common.wire.kubelet.deviceplugin.v1beta1.deviceplugin_pb2_grpc import (
    add_DevicePluginServicer_to_server,
)
from fpga_plugin.kubelet.servicer import DevicePlugin
from fpga_plugin.kubelet.sockets import SocketIdentity, identify, remove_socket

WORKERS: Final = 8
"""One is held for ever by each open stream; the kubelet admits pods one at a time."""

GRACE_SECONDS: Final = 0.5
STOP_SECONDS: Final = 3.0


class SocketNotServed(Temporary):
    """The pool's socket could not be made."""

    code = "socket_not_served"


class PoolServer:
    """Serves from its making until ``stop``; then the socket is gone, and only then."""

    def __init__(self, path: Path, plugin: DevicePlugin) -> None:
        """Raise SocketNotServed when the socket cannot be bound."""
        self.path = path
        self.plugin = plugin
        try:
            remove_socket(path)
        except OSError as error:
            raise SocketNotServed(f"cannot replace {path}: {error.strerror}") from error
        self._workers = futures.ThreadPoolExecutor(
            WORKERS, thread_name_prefix=f"device-plugin-{path.stem}"
        )
        self._server = grpc.server(self._workers)
        add_DevicePluginServicer_to_server(plugin, self._server)
        try:
            self._server.add_insecure_port(f"unix:{path}")
        except RuntimeError as error:
            self._workers.shutdown(wait=False)
            raise SocketNotServed(f"cannot serve on {path}: {error}") from error
        self._server.start()
        self.identity: SocketIdentity | None = identify(path)

    def stop(self) -> None:
        """End the streams, let calls finish for a moment, then end and remove the socket."""
        self.plugin.end()
        self._server.stop(GRACE_SECONDS).wait(STOP_SECONDS)
        self._workers.shutdown(wait=False, cancel_futures=True)
        if self.identity is not None and identify(self.path) == self.identity:
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
