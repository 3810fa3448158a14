"""Opens connections to agents. Each trusts one certificate: the one the node itself reported."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import grpc

from fpga_bitstream_manager.agents.client import AgentClient, AgentUnreachable
from fpga_bitstream_manager.settings import AgentSettings

#: A node that lost its power is noticed within 15 s; the agent allows pings every 5 s.
_OPTIONS: Final = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
)


class AgentConnector:
    """Connects as the manager. Reads its certificate anew for each connection."""

    def __init__(self, settings: AgentSettings) -> None:
        self._settings = settings

    @contextmanager
    def connect(
        self, node: str, address: str | None, certificate_pem: str | None
    ) -> Iterator[AgentClient]:
        """A client that connects with its first call. Raises AgentUnreachable: no address or no
        certificate is known.
        """
        if not address:
            raise AgentUnreachable(f"node {node} has reported no agent address")
        with self._channel(node, address, certificate_pem) as channel:
            yield AgentClient(channel, node)

    def _channel(self, node: str, address: str, certificate_pem: str | None) -> grpc.Channel:
        if not self._settings.client_cert_file:
            return grpc.insecure_channel(address, options=_OPTIONS)
        if not certificate_pem:
            raise AgentUnreachable(f"node {node} has reported no certificate of its agent")
        credentials = grpc.ssl_channel_credentials(
            certificate_pem.encode(),
            _read(self._settings.client_key_file),
            _read(self._settings.client_cert_file),
        )
        options = (*_OPTIONS, ("grpc.ssl_target_name_override", node))
        return grpc.secure_channel(address, credentials, options=options)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise AgentUnreachable(f"the manager's own certificate cannot be read: {error}") from error
