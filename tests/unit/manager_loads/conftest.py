"""A ledger of its own for each test, with one node, one device and three bitstreams."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fpga_bitstream_manager.ledger import Ledger
from fpga_bitstream_manager.ledger.migration import migrate
from support.loads_bench import NEW_AFU, OLD_AFU, add_bitstream, add_node


@pytest.fixture(scope="session")
def prepared_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "ledger.db"
    ledger = Ledger(f"sqlite:///{path}")
    migrate(ledger)
    add_node(ledger, "127.0.0.1:1", "pem")
    add_bitstream(ledger, "new", "a", NEW_AFU)
    add_bitstream(ledger, "old", "b", OLD_AFU)
    add_bitstream(ledger, "misfit", "d", NEW_AFU, interface_id="1" * 32)
    ledger.close()
    return path


@pytest.fixture
def ledger(tmp_path: Path, prepared_ledger: Path) -> Iterator[Ledger]:
    shutil.copy(prepared_ledger, tmp_path / "ledger.db")
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db")
    yield ledger
    ledger.close()
