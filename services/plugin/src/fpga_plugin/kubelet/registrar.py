"""Keeps one pool registered with the kubelet, whatever is restarted or removed.

One thread a pool, which never exits before ``stop``: a kubelet that is absent is waited for.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import grpc

from fpga_common.domain.errors import Temporary
from fpga_common.observability.logging import get_logger
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb
from fpga_common.wire.kubelet.deviceplugin.v1beta1.deviceplugin_pb2_grpc import RegistrationStub
from fpga_plugin.kubelet.server import PoolServer, SocketNotServed
from fpga_plugin.kubelet.servicer import OPTIONS, DevicePlugin
from fpga_plugin.kubelet.sockets import SocketIdentity, identify
from fpga_plugin.kubelet.supervision import Attempts, Observation, Registration, why_register

API_VERSION: Final = "v1beta1"
POLL_SECONDS: Final = 0.05
REGISTER_SECONDS: Final = 15.0
"""The kubelet dials back for at most 10 s before it answers."""

SETTLE_SECONDS: Final = 0.1
"""Pause between the end of a stream and a registration with the same kubelet: its clean-up of an
old stream can disconnect a newer client (Kubernetes 1.34 to 1.36)."""

SETTLE_STEP_SECONDS: Final = 0.01

STOP_SECONDS: Final = 5.0

log = get_logger(__name__)


class RegistrationFailed(Temporary):
    """The kubelet did not take the registration, or did not answer."""

    code = "registration_failed"


class RegistrationOvertaken(RegistrationFailed):
    """Kubelet or socket changed meanwhile: nothing is wrong, the next attempt follows at once."""

    code = "registration_overtaken"


class Registrar:
    """Registers ``resource``, served on ``socket_path``, again and again when it has to be."""

    def __init__(
        self, resource: str, socket_path: Path, make_plugin: Callable[[], DevicePlugin]
    ) -> None:
        self._resource = resource
        self._socket_path = socket_path
        self._kubelet_socket = socket_path.with_name("kubelet.sock")
        self._make_plugin = make_plugin
        self._stopping = threading.Event()
        self._server: PoolServer | None = None
        self._registration: Registration | None = None
        self._attempts = Attempts()
        self._error: str | None = None
        self._thread = threading.Thread(target=self._run, name=f"register-{resource}", daemon=True)

    @property
    def registered(self) -> bool:
        """Whether the kubelet has the pool and listens to its list."""
        server = self._server
        return self._registration is not None and server is not None and server.plugin.streaming

    @property
    def error(self) -> str | None:
        """Why the pool is not registered, as far as is known."""
        return None if self.registered else self._error

    def start(self) -> None:
        """Begin to look for the kubelet."""
        self._thread.start()

    def stop(self) -> None:
        """End the server and remove its socket."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._step()
            except Exception:
                # Whatever is wrong with one attempt, the pool must come back when it can.
                log.exception("registration_loop_failed", resource=self._resource)
            self._stopping.wait(POLL_SECONDS)
        self._end_server()

    def _step(self) -> None:
        seen = self._observe()
        if seen.kubelet is None:
            self._note(f"no kubelet at {self._kubelet_socket}", "kubelet_absent")
            return
        why = why_register(self._registration, seen)
        if why is None:
            self._attempts = self._attempts.after_success(seen.now)
        elif self._attempts.due(seen.kubelet, seen.now):
            self._attempts = self._attempts.after_attempt(seen.kubelet, seen.now)
            self._try_register(seen.kubelet, why)

    def _observe(self) -> Observation:
        plugin = self._server.plugin if self._server is not None else None
        return Observation(
            kubelet=identify(self._kubelet_socket),
            own_socket=identify(self._socket_path),
            streaming=plugin is not None and plugin.streaming,
            streamed=plugin is not None and plugin.streamed,
            now=time.monotonic(),
        )

    def _try_register(self, kubelet: SocketIdentity, why: str) -> None:
        try:
            self._register(kubelet)
        except RegistrationOvertaken as error:
            log.debug("registration_overtaken", resource=self._resource, reason=error.message)
            return
        except (RegistrationFailed, SocketNotServed) as error:
            self._note(error.message, "registration_failed")
            return
        log.info("registered", resource=self._resource, why=why)
        self._error = None

    def _register(self, kubelet: SocketIdentity) -> None:
        """The old server ends before the new one is announced."""
        known = self._registration is not None and self._registration.kubelet == kubelet
        self._registration = None
        self._end_server()
        if known:
            self._settle(kubelet)
        server = self._server = PoolServer(self._socket_path, self._make_plugin())
        self._announce(kubelet, server.identity)
        self._registration = Registration(kubelet, server.identity, time.monotonic())

    def _announce(self, kubelet: SocketIdentity, own_socket: SocketIdentity | None) -> None:
        """Call Register, which returns when the kubelet has dialled back and asked the options."""
        request = pb.RegisterRequest(
            version=API_VERSION,
            endpoint=self._socket_path.name,
            resource_name=self._resource,
            options=OPTIONS,
        )
        # A pool of connections of its own: no back-off left over from the kubelet before.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)]
        with grpc.insecure_channel(f"unix:{self._kubelet_socket}", options) as channel:
            call = RegistrationStub(channel).Register.future(request, timeout=REGISTER_SECONDS)
            try:
                self._wait_answer(call, kubelet, own_socket)
                call.result()
            except grpc.RpcError as error:
                raise RegistrationFailed(f"{error.code().name}: {error.details()}") from error
            finally:
                call.cancel()

    def _wait_answer(
        self,
        call: "grpc.Future[pb.Empty]",
        kubelet: SocketIdentity,
        own_socket: SocketIdentity | None,
    ) -> None:
        """Wait for the call's end, or for a reason why it cannot succeed any more.

        A kubelet that starts right now deletes the plugin's socket, takes the call and then dials
        the deleted socket for 10 s.
        """
        answered = threading.Event()
        call.add_done_callback(lambda _: answered.set())
        while not answered.wait(POLL_SECONDS):
            if self._stopping.is_set():
                raise RegistrationOvertaken("the plugin is stopping")
            self._require_same(kubelet)
            if identify(self._socket_path) != own_socket:
                raise RegistrationOvertaken("the plugin's socket was removed meanwhile")

    def _settle(self, kubelet: SocketIdentity) -> None:
        """Let this kubelet forget the old stream; a new one has nothing to forget."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline and not self._stopping.wait(SETTLE_STEP_SECONDS):
            self._require_same(kubelet)

    def _require_same(self, kubelet: SocketIdentity) -> None:
        if identify(self._kubelet_socket) != kubelet:
            raise RegistrationOvertaken("the kubelet restarted meanwhile")

    def _end_server(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.stop()

    def _note(self, reason: str, event_name: str) -> None:
        """Log a reason once, until it changes."""
        if reason == self._error or self._stopping.is_set():
            return
        self._error = reason
        log.warning(event_name, resource=self._resource, reason=reason)
