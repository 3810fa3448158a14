"""Everything a handler needs, made once a process. Called by ``cli`` and by tests."""

import threading
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry
from redis import Redis

from fpga_bitstream_manager.access.authentication import Authenticator, node_tokens
from fpga_bitstream_manager.access.nodes import NodeTokens
from fpga_bitstream_manager.bitstreams.store import BlobStore, open_store
from fpga_bitstream_manager.clock import Clock, utc_now
from fpga_bitstream_manager.cluster import open_cluster
from fpga_bitstream_manager.cluster.node_tokens import ClusterNodeTokens
from fpga_bitstream_manager.ledger import Ledger
from fpga_bitstream_manager.loads.service import LoadService
from fpga_bitstream_manager.memory import open_redis
from fpga_bitstream_manager.nodes.heartbeats import Heartbeats
from fpga_bitstream_manager.settings import ManagerSettings
from fpga_bitstream_manager.tasks.opening import open_loads


@dataclass(frozen=True, slots=True)
class Services:
    """What one process of the manager works with.

    ``stopping`` is set when the process was told to end: event streams close then.
    """

    settings: ManagerSettings
    ledger: Ledger
    redis: Redis
    blobs: BlobStore
    authenticator: Authenticator
    heartbeats: Heartbeats
    loads: LoadService
    clock: Clock = utc_now
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    stopping: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def open(cls, settings: ManagerSettings, *, clock: Clock = utc_now) -> "Services":
        """Make everything; connects to nothing yet. Raises InvalidConfiguration."""
        ledger = Ledger(settings.database.url, busy_seconds=settings.database.busy_seconds)
        redis = open_redis(settings.redis)
        nodes = _node_tokens(settings)
        return cls(
            settings=settings,
            ledger=ledger,
            redis=redis,
            blobs=open_store(settings.store.url),
            authenticator=Authenticator(settings.access, ledger, clock, nodes),
            heartbeats=Heartbeats(redis, ledger),
            loads=open_loads(settings, ledger, redis, clock),
            clock=clock,
        )

    def close(self) -> None:
        """Close every connection."""
        self.stopping.set()
        self.redis.close()
        self.ledger.close()


def _node_tokens(settings: ManagerSettings) -> NodeTokens:
    if not settings.kubernetes.enabled:
        return node_tokens(settings.access)
    return ClusterNodeTokens(open_cluster(settings.kubernetes), settings.kubernetes.plugin_account)
