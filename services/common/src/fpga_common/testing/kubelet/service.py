"""The kubelet's Registration service."""

from collections.abc import Callable
from typing import Any

import grpc

from fpga_common.testing.kubelet.failures import InvalidRegistration, PluginUnreachable
from fpga_common.testing.kubelet.manager import DeviceManager
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb
from fpga_common.wire.kubelet.deviceplugin.v1beta1.deviceplugin_pb2_grpc import (
    RegistrationServicer,
)


class RegistrationService(RegistrationServicer):
    """Answers only when the plugin was dialled and asked, or refuses with the reason.

    ``refusal`` is what a test wants every call refused with, or None.
    """

    def __init__(self, manager: DeviceManager, refusal: Callable[[], str | None]) -> None:
        self._manager = manager
        self._refusal = refusal

    def Register(  # noqa: N802
        self, request: pb.RegisterRequest, context: Any
    ) -> pb.Empty:
        """Register a plugin. Errors carry the code ``UNKNOWN``, as the kubelet's do."""
        refusal = self._refusal()
        if refusal is not None:
            context.abort(grpc.StatusCode.UNKNOWN, refusal)
        try:
            self._manager.register(request)
        except (InvalidRegistration, PluginUnreachable) as error:
            context.abort(grpc.StatusCode.UNKNOWN, error.message)
        except grpc.RpcError as error:
            context.abort(grpc.StatusCode.UNKNOWN, f"failed to get options: {error.details()}")
        return pb.Empty()
