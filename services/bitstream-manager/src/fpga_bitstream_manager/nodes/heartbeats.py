"""When a node was last heard of, and its sensors: in Redis, the ledger standing in.

Written by report ingestion, read by queries and the reconciler. Heartbeats are many and worth
little, so Redis takes them; the ledger gets them in one transaction every ``SAVE_EVERY`` seconds,
which is often enough that an emptied Redis makes no node look stale.
"""

import json
import threading
import time
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Final

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import update

from fpga_bitstream_manager.ledger import Ledger, NodeRow
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

HEARTBEATS: Final = "fpga:heartbeats"
SENSORS: Final = "fpga:sensors:"
SENSORS_KEPT: Final = timedelta(minutes=10)
SAVE_EVERY: Final = 30.0
AWAY_SECONDS: Final = 2.0

Sensors = dict[str, dict[str, float]]


class Heartbeats:
    """Last words of nodes. Safe to use from several threads."""

    def __init__(self, redis: Redis, ledger: Ledger) -> None:
        self._redis = redis
        self._ledger = ledger
        self._lock = threading.Lock()
        self._unsaved: dict[str, datetime] = {}
        self._saved_at = time.monotonic()
        self._away_until: float | None = None

    @property
    def available(self) -> bool:
        """Whether Redis answered when it was last asked."""
        return self._away_until is None or time.monotonic() >= self._away_until

    def record(self, node: str, at: datetime, sensors: Sensors | None = None) -> None:
        """Note that ``node`` was heard of at ``at``; ``sensors`` by card.

        Raises LedgerUnavailable where Redis is away and the ledger cannot stand in.
        """
        with self._lock:
            self._unsaved[node] = at
        if not self._remember(node, at, sensors) or self._save_is_due():
            self.save()

    def save(self) -> None:
        """Write what Redis alone knows to the ledger. Raises LedgerUnavailable."""
        with self._lock:
            unsaved, self._unsaved = self._unsaved, {}
            self._saved_at = time.monotonic()
        if not unsaved:
            return
        with self._ledger.transaction() as session:
            for node, at in unsaved.items():
                session.execute(
                    update(NodeRow)
                    .where(NodeRow.name == node, NodeRow.last_seen_at < at)
                    .values(last_seen_at=at, stale=False)
                )

    def last_seen(self, nodes: Collection[str] | None = None) -> dict[str, datetime]:
        """What Redis knows, of ``nodes`` or of all; nothing while Redis is away."""
        if not self.available or (nodes is not None and not nodes):
            return {}
        try:
            known = self._known(None if nodes is None else list(nodes))
        except RedisError as error:
            self._note_absence(error)
            return {}
        return {node: datetime.fromtimestamp(float(at), UTC) for node, at in known.items()}

    def sensors(self, nodes: Collection[str]) -> dict[str, Sensors]:
        """The last sensors of each node by card; nothing while Redis is away."""
        wanted = list(nodes)
        if not self.available or not wanted:
            return {}
        try:
            values = self._redis.mget([SENSORS + node for node in wanted])
        except RedisError as error:
            self._note_absence(error)
            return {}
        return {
            node: json.loads(value)
            for node, value in zip(wanted, values, strict=True)
            if value is not None
        }

    def _known(self, nodes: list[str] | None) -> dict[str, str]:
        if nodes is None:
            return {str(node): str(at) for node, at in self._redis.hgetall(HEARTBEATS).items()}
        values = self._redis.hmget(HEARTBEATS, nodes)
        return {node: str(at) for node, at in zip(nodes, values, strict=True) if at is not None}

    def _remember(self, node: str, at: datetime, sensors: Sensors | None) -> bool:
        if not self.available:
            return False
        try:
            pipeline = self._redis.pipeline(transaction=False)
            pipeline.hset(HEARTBEATS, node, str(at.timestamp()))
            if sensors is not None:
                pipeline.set(SENSORS + node, json.dumps(sensors), ex=SENSORS_KEPT)
            pipeline.execute()
        except RedisError as error:
            self._note_absence(error)
            return False
        self._note_presence()
        return True

    def _save_is_due(self) -> bool:
        return time.monotonic() - self._saved_at >= SAVE_EVERY

    def _note_absence(self, error: RedisError) -> None:
        if self._away_until is None:
            log.warning("redis_unavailable", use="heartbeats", reason=str(error))
        self._away_until = time.monotonic() + AWAY_SECONDS

    def _note_presence(self) -> None:
        if self._away_until is not None:
            self._away_until = None
            log.info("redis_available", use="heartbeats")
