"""Binds the agent's port: mutual TLS, or plain on loopback where there is no client authority."""

import ssl
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final

import grpc

from fpga_common.domain.errors import InvalidConfiguration, Temporary
from fpga_common.observability.logging import get_logger
from fpga_common.wire.agent.v1 import agent_pb2_grpc
from fpga_plugin.agent.certificate import CertificateFiles
from fpga_plugin.agent.identity import ManagerOnly
from fpga_plugin.settings import AgentSettings

CALLS: Final = 96
"""Calls at a time: a stream for each of 64 regions, and room for questions."""

STOP_SECONDS: Final = 2.0
FIRST_RETRY_SECONDS: Final = 1.0
LONGEST_RETRY_SECONDS: Final = 15.0
_OPTIONS: Final = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", 1 << 20),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
)

log = get_logger(__name__)


class AgentNotServing(Temporary):
    """The port is taken, or the client authority's file is not there yet."""

    code = "agent_not_serving"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the agent listens, and the certificate to pin."""

    port: int
    certificate_pem: str


def require_safe(settings: AgentSettings) -> None:
    """Raise InvalidConfiguration if the agent would serve strangers on the network."""
    if settings.client_ca_file is None and not is_loopback(settings.bind):
        raise InvalidConfiguration(
            "agent.client_ca_file",
            f"found nothing, expected a file, since agent.bind is {settings.bind} and not loopback",
        )


def is_loopback(bind: str) -> bool:
    """Whether host:port is reachable from this machine alone."""
    host = bind.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class AgentServer:
    """The agent's gRPC server; keeps trying to serve until it does or is stopped."""

    def __init__(
        self,
        settings: AgentSettings,
        make_identity: Callable[[], CertificateFiles],
        servicer: agent_pb2_grpc.NodeAgentServicer,
    ) -> None:
        """``make_identity`` may raise a Temporary; raises InvalidConfiguration for strangers."""
        require_safe(settings)
        self._settings = settings
        self._make_identity = make_identity
        self._servicer = servicer
        self._server: grpc.Server | None = None
        self._stopping = threading.Event()
        self._problem = ""
        self._thread = threading.Thread(target=self._start_later, name="agent-start", daemon=True)
        self.endpoint: Endpoint | None = None

    def start(self) -> None:
        """Serve now, or in the background as soon as that is possible."""
        if not self._try_serve():
            self._thread.start()

    def stop(self) -> None:
        """Answer no more; streams of operations that have ended are gone by then."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)
        if self._server is not None:
            self._server.stop(STOP_SECONDS).wait(2 * STOP_SECONDS)

    def _start_later(self) -> None:
        pause = FIRST_RETRY_SECONDS
        while not self._stopping.wait(pause):
            if self._try_serve():
                return
            pause = min(2 * pause, LONGEST_RETRY_SECONDS)

    def _try_serve(self) -> bool:
        try:
            self._serve()
        except (Temporary, OSError) as error:
            if str(error) != self._problem:
                log.warning("agent_waits", reason=str(error))
            self._problem = str(error)
            return False
        return True

    def _serve(self) -> None:
        identity = self._make_identity()
        credentials = self._credentials(identity)
        server = grpc.server(
            ThreadPoolExecutor(CALLS, thread_name_prefix="agent"),
            interceptors=[] if credentials is None else [ManagerOnly()],
            options=_OPTIONS,
            maximum_concurrent_rpcs=CALLS,
        )
        agent_pb2_grpc.add_NodeAgentServicer_to_server(self._servicer, server)
        port = _bind(server, self._settings.bind, credentials)
        server.start()
        self._server = server
        self.endpoint = Endpoint(port, identity.certificate.read_text(encoding="ascii"))
        log.info("agent_serving", bind=self._settings.bind, tls=credentials is not None)

    def _credentials(self, identity: CertificateFiles) -> grpc.ServerCredentials | None:
        if self._settings.client_ca_file is None:
            return None
        pair = (identity.key.read_bytes(), identity.certificate.read_bytes())
        authority = read_authority(self._settings.client_ca_file)
        return grpc.ssl_server_credentials([pair], authority, require_client_auth=True)


def read_authority(path: Path) -> bytes:
    """The certificates that sign clients. Raises AgentNotServing where there is none.

    gRPC would serve an empty file to nobody, for ever, instead of waiting for its content.
    """
    try:
        content = path.read_bytes()
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=content.decode())
    except (OSError, ValueError) as error:
        raise AgentNotServing(f"agent.client_ca_file {path}: {error}") from error
    return content


def _bind(server: grpc.Server, bind: str, credentials: grpc.ServerCredentials | None) -> int:
    try:
        if credentials is None:
            return server.add_insecure_port(bind)
        return server.add_secure_port(bind, credentials)
    except RuntimeError as error:
        raise AgentNotServing(f"agent.bind {bind}: {error}") from error
