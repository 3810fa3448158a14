"""Fixtures of the agent's unit tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.agent_bench import Bench, running_bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with running_bench(tmp_path) as bench:
        yield bench
