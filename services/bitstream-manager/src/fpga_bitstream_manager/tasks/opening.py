"""Brings loads together with queue and notices, for every process that asks for loads."""

from redis import Redis

from fpga_bitstream_manager.clock import Clock, utc_now
from fpga_bitstream_manager.ledger import Ledger
from fpga_bitstream_manager.loads.service import LoadService
from fpga_bitstream_manager.settings import ManagerSettings
from fpga_bitstream_manager.tasks.app import sending_app
from fpga_bitstream_manager.tasks.dispatching import CeleryDispatcher
from fpga_bitstream_manager.tasks.notices import RedisNotices


def open_loads(
    settings: ManagerSettings, ledger: Ledger, redis: Redis, clock: Clock = utc_now
) -> LoadService:
    """Loads that are dispatched through Redis; connects when first used.

    Raises InvalidConfiguration.
    """
    return LoadService(ledger, CeleryDispatcher(sending_app(settings)), RedisNotices(redis), clock)
