"""The reconciler's process with and without Kubernetes; Redis is away, and need not be there."""

import shutil
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from fpga_bitstream_manager.ledger import Ledger, NodeRow
from fpga_common.testing.cluster import FakeCluster
from fpga_common.testing.processes import Process
from fpga_common.testing.waiting import wait_for
from support.loads_bench import NODE, add_node
from support.running_manager import COMMAND, RunningManager


@pytest.fixture
def manager() -> Iterator[RunningManager]:
    own = RunningManager()
    own.migrate()
    yield own
    shutil.rmtree(own.folder)


@pytest.fixture
def ledger(manager: RunningManager) -> Iterator[Ledger]:
    own = Ledger(manager.ledger_url)
    add_node(own, None, None)
    yield own
    own.close()


def reconciler(manager: RunningManager, url: str, token: str, *, enabled: bool = True) -> Process:
    path = manager.folder / "cluster-token"
    path.write_text(token)
    manager.configure(
        kubernetes={"enabled": enabled, "api_url": url, "token_file": str(path)},
        reconciler={"interval_seconds": 0.1},
    )
    command = [COMMAND, "--config", str(manager.settings), "reconciler"]
    return Process("reconciler", command, log=manager.folder / "reconciler.log")


def forget(ledger: Ledger) -> None:
    """Make the node unheard of for long."""
    with ledger.transaction() as session:
        old = datetime.now(UTC) - timedelta(hours=1)
        session.execute(update(NodeRow).values(last_seen_at=old, stale=False))


def wait_until_stale(ledger: Ledger) -> None:
    def stale() -> bool:
        with ledger.reading() as session:
            return session.get_one(NodeRow, NODE).stale

    wait_for(stale, timeout=60, what="the stale node")


def test_the_process_labels_nodes_and_ends_in_peace(
    manager: RunningManager, ledger: Ledger
) -> None:
    with FakeCluster() as fake, reconciler(manager, fake.url, fake.token) as process:
        node = fake.add_node(NODE)
        wait_for(lambda: "fpga-platform.io/present" in node.labels, timeout=60, what="labels")
        process.terminate()
        assert process.wait(30) == 0


def test_an_api_server_that_hangs_holds_up_nothing_else(
    manager: RunningManager, ledger: Ledger
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with reconciler(manager, url, "token") as process:
            connection, _ = silent.accept()
            with connection:
                forget(ledger)
                wait_until_stale(ledger)
                process.terminate()
                assert process.wait(30) == 0


def test_without_kubernetes_no_api_server_is_asked(manager: RunningManager, ledger: Ledger) -> None:
    with FakeCluster() as fake, reconciler(manager, fake.url, fake.token, enabled=False):
        fake.add_node(NODE)
        for _ in range(2):  # two passes at least
            forget(ledger)
            wait_until_stale(ledger)
        assert fake.requests == []
