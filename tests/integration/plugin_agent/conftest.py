"""Fixtures of the agent's integration tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.agent_node import AgentNode, running_node


@pytest.fixture
def node(tmp_path: Path) -> Iterator[AgentNode]:
    with running_node(tmp_path) as node:
        yield node
