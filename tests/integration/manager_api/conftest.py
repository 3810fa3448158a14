"""One API process for all tests of a session; each test names its own nodes and bitstreams."""

import shutil
from collections.abc import Iterator

import httpx2
import pytest

from fpga_common.client import ManagerClient
from fpga_common.testing.redis_server import RedisServer
from support.running_manager import ADMIN_TOKEN, RunningManager


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="session")
def manager(redis_server: RedisServer) -> Iterator[RunningManager]:
    running = RunningManager(redis_url=redis_server.url, bitstreams={"max_bytes": 1_000_000})
    running.migrate()
    try:
        yield running.start()
    finally:
        running.stop()
        shutil.rmtree(running.folder)


@pytest.fixture
def client(manager: RunningManager) -> Iterator[ManagerClient]:
    with manager.client() as own:
        yield own


@pytest.fixture
def http(manager: RunningManager) -> Iterator[httpx2.Client]:
    headers = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
    with httpx2.Client(base_url=manager.url, headers=headers, timeout=30) as own:
        yield own
