"""Redis: what may be lost. Every caller has something that stands in while it is away."""

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from fpga_bitstream_manager.settings import RedisSettings


def open_redis(settings: RedisSettings) -> Redis:
    """A client that answers or fails within ``timeout_seconds``; connects when first used.

    Raises InvalidConfiguration.
    """
    return Redis.from_url(
        settings.url,
        password=settings.password(),
        socket_timeout=settings.timeout_seconds,
        socket_connect_timeout=settings.timeout_seconds,
        retry=Retry(NoBackoff(), 1),
        decode_responses=True,
    )
