"""One simulated node with a real inventory, a real agent server and a manager's HTTP server."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc

from fpga_bitstream_manager.bootstrap.service import bootstrap
from fpga_common.bitstream import inspect
from fpga_common.testing.sim import SimulatedCard, SimulatedHost, make_gbs
from fpga_common.wire.agent.v1 import agent_pb2 as pb
from fpga_common.wire.agent.v1 import agent_pb2_grpc
from fpga_plugin.agent.certificate import CertificateFiles, ensure_certificate
from fpga_plugin.agent.cordoning import Cordoning
from fpga_plugin.agent.draining import Drain
from fpga_plugin.agent.fetching import BitstreamCache
from fpga_plugin.agent.handover import Handover
from fpga_plugin.agent.journal import Journal
from fpga_plugin.agent.operations import Operations
from fpga_plugin.agent.programming import Programming
from fpga_plugin.agent.recovery import settle_interrupted
from fpga_plugin.agent.reservations import Reservations
from fpga_plugin.agent.server import AgentServer
from fpga_plugin.agent.servicer import NodeAgent
from fpga_plugin.agent.telemetry import Telemetry
from fpga_plugin.backends import default_backends
from fpga_plugin.inventory.store import InventoryStore
from fpga_plugin.manager_link import ManagerLink
from fpga_plugin.programmers.registry import Programmers
from fpga_plugin.settings import AgentSettings, ManagerSettings
from support.agent_doubles import Outcomes, ScriptedKubelet
from support.manager_double import ManagerDouble

NODE = "sim-a"
NEW_AFU = "d8424dc4a4a3c413f89e433683f9040b"
CALL_SECONDS = 30.0


@dataclass
class AgentNode:
    """What a test needs of it."""

    root: Path
    host: SimulatedHost
    card: SimulatedCard
    manager: ManagerDouble
    kubelet: ScriptedKubelet
    store: InventoryStore
    operations: Operations
    identity: CertificateFiles
    port: int
    trust: Path

    def upload(self, card: SimulatedCard | None = None, afu_id: str = NEW_AFU) -> pb.Bitstream:
        """Put a bitstream for a card on the manager."""
        target = card or self.card
        return upload(self.manager, target.interface_id, afu_id)

    def request(self, bitstream: pb.Bitstream, **changes: object) -> pb.ProgramRequest:
        """A request for the first card's region."""
        request = pb.ProgramRequest(
            node=NODE,
            operation_id="load-1.1",
            load_id="load-1",
            attempt=1,
            region_id=self.card.region_id,
            bitstream=bitstream,
            requested_by="ada",
        )
        for name, value in changes.items():
            setattr(request, name, value)
        return request

    def credentials(self) -> grpc.ChannelCredentials:
        """What the manager uses: its client certificate, and the node's certificate pinned."""
        return grpc.ssl_channel_credentials(
            self.identity.certificate.read_bytes(),
            (self.trust / "manager-client.key").read_bytes(),
            (self.trust / "manager-client.crt").read_bytes(),
        )

    @contextmanager
    def stub(
        self, credentials: grpc.ChannelCredentials | None = None, name: str = NODE
    ) -> Iterator[agent_pb2_grpc.NodeAgentStub]:
        """The agent as the manager reaches it."""
        with grpc.secure_channel(
            f"127.0.0.1:{self.port}",
            credentials or self.credentials(),
            options=[("grpc.ssl_target_name_override", name)],
        ) as channel:
            yield agent_pb2_grpc.NodeAgentStub(channel)


def upload(manager: ManagerDouble, interface_id: str, afu_id: str) -> pb.Bitstream:
    """Put a bitstream on the manager and describe it as a load does."""
    content = make_gbs(interface_id, afu_id)
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    manager.bitstreams[digest] = content
    return pb.Bitstream(
        digest=digest,
        size_bytes=len(content),
        format="gbs",
        interface_id=interface_id,
        afu_id=afu_id,
        name="nlb0",
    )


@contextmanager
def running_node(root: Path) -> Iterator[AgentNode]:
    """A node with one n3000 whose programming takes no time; all is ended with the block."""
    host = SimulatedHost(root / "host")
    card = host.add_card("n3000")
    card.set_programming_seconds(0.0)
    state, trust = root / "state", root / "trust"
    bootstrap(trust, nodes=(NODE,))
    token_file = trust / "nodes" / f"{NODE}.token"
    with ManagerDouble(token=token_file.read_text()) as manager:
        link = ManagerLink(ManagerSettings(url=manager.url, token_file=token_file))
        reservations, journal = Reservations(state), Journal(state)
        settle_interrupted(journal, reservations)
        store = InventoryStore(
            default_backends(host.root), interval_seconds=0.1, overlay=reservations.apply
        )
        kubelet = ScriptedKubelet()
        handover = Handover(store, reservations, Drain(kubelet, 5.0))
        programming = Programming(
            store, BitstreamCache(state, link), Programmers(host.root), handover, inspect
        )
        operations = Operations(journal, programming.carry_out, Outcomes())
        identity = ensure_certificate(state, NODE)
        telemetry = Telemetry(store.snapshot)
        servicer = NodeAgent(NODE, store, operations, Cordoning(store, reservations), telemetry)
        server = AgentServer(
            AgentSettings(bind="127.0.0.1:0", client_ca_file=trust / "ca.crt"),
            lambda: identity,
            servicer,
        )
        store.start()
        telemetry.take()
        server.start()
        assert server.endpoint is not None
        port = server.endpoint.port
        try:
            yield AgentNode(
                root, host, card, manager, kubelet, store, operations, identity, port, trust
            )
        finally:
            operations.stop(CALL_SECONDS)
            server.stop()
            store.stop()
