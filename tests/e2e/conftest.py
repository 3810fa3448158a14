"""One running platform for the end-to-end tests of a session."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fpga_common.testing.platform import LocalPlatform

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def platform() -> Iterator[LocalPlatform]:
    with LocalPlatform(programming_seconds=0.2) as running:
        yield running
