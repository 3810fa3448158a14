"""A running bench that tests share, each on a node of its own, and benches to break."""

import shutil
from collections.abc import Iterator

import pytest

from support.loads_bench import BenchNode, LoadsBench, short_root


@pytest.fixture(scope="module")
def running() -> Iterator[LoadsBench]:
    """Redis, a worker and a reconciler: nobody ends them."""
    root = short_root()
    try:
        with LoadsBench(root) as bench:
            bench.redis.start()
            bench.spawn_ready("worker")
            bench.spawn_ready("reconciler")
            yield bench
    finally:
        shutil.rmtree(root)


@pytest.fixture
def node(running: LoadsBench) -> Iterator[BenchNode]:
    """A node of the running bench."""
    node = running.add_node()
    yield node
    node.stop()


@pytest.fixture
def bench() -> Iterator[LoadsBench]:
    """A bench of the test's own, with nothing started."""
    root = short_root()
    try:
        with LoadsBench(root) as bench:
            yield bench
    finally:
        shutil.rmtree(root)
