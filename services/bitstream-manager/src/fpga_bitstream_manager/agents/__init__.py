"""How the manager talks to node agents: gRPC over mutual TLS with the node's certificate pinned.

Called by workers and the reconciler. Knows no ledger and no queue.
"""

from fpga_bitstream_manager.agents.client import AgentClient, AgentRefused, AgentUnreachable
from fpga_bitstream_manager.agents.connector import AgentConnector

__all__ = ["AgentClient", "AgentConnector", "AgentRefused", "AgentUnreachable"]
