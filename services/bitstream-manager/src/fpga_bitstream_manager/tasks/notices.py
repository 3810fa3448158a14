"""Tells event streams that loads changed: Redis publish and subscribe, one channel a load.

What is lost does no harm: a stream reads the ledger anyway, only later.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from redis import Redis
from redis.client import PubSub
from redis.exceptions import RedisError

from fpga_bitstream_manager.tasks.dispatching import Absence

CHANNEL: Final = "fpga:load:"


class RedisNotices:
    """``fpga_bitstream_manager.loads.signals.Notices`` over Redis."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._absence = Absence("notices")

    def changed(self, load_ids: Iterable[str]) -> None:
        """Publish each load's id."""
        ids = list(load_ids)
        if not ids or self._absence.expected:
            return
        try:
            pipeline = self._redis.pipeline(transaction=False)
            for load_id in ids:
                pipeline.publish(CHANNEL + load_id, "")
            pipeline.execute()
        except RedisError as error:
            self._absence.begin(str(error))
            return
        self._absence.end()


class Bell(Protocol):
    """Wakes a watcher."""

    def wait(self, seconds: float) -> bool:
        """Wait until something changed, at most ``seconds``; False when nothing was heard.

        Raises BellBroken.
        """


class BellBroken(Exception):
    """Redis went away: nothing will be heard any more."""


class RedisBell:
    """One load's channel."""

    def __init__(self, pubsub: PubSub) -> None:
        self._pubsub = pubsub

    def wait(self, seconds: float) -> bool:
        """Wait for a message."""
        try:
            message = self._pubsub.get_message(ignore_subscribe_messages=True, timeout=seconds)
        except (RedisError, OSError) as error:
            raise BellBroken(str(error)) from error
        return message is not None


@contextmanager
def listening(redis: Redis, load_id: str) -> Iterator[Bell]:
    """Subscribe to a load. Raises BellBroken where Redis is away."""
    pubsub = redis.pubsub()  # type: ignore[no-untyped-call]
    try:
        pubsub.subscribe(CHANNEL + load_id)
        yield RedisBell(pubsub)
    except (RedisError, OSError) as error:
        raise BellBroken(str(error)) from error
    finally:
        pubsub.close()
