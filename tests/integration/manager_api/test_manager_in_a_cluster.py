"""Node tokens by TokenReview: the API's process against a cluster over real HTTP."""

import shutil
from collections.abc import Iterator

import httpx2
import pytest

from fpga_common.testing.cluster import FakeCluster, FakeToken
from support.node_reports import card, report
from support.running_manager import RunningManager

PLUGIN = "system:serviceaccount:fpga-platform:fpga-platform-plugin"


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with FakeCluster() as own:
        yield own


@pytest.fixture
def manager_of_cluster(cluster: FakeCluster) -> Iterator[RunningManager]:
    running = RunningManager()
    token = running.folder / "cluster-token"
    token.write_text(cluster.token)
    settings = {"enabled": True, "api_url": cluster.url, "token_file": str(token)}
    running.configure(kubernetes=settings)
    running.migrate()
    try:
        yield running.start()
    finally:
        running.stop()
        shutil.rmtree(running.folder)


def put(manager: RunningManager, token: str) -> httpx2.Response:
    return httpx2.put(
        f"{manager.url}/internal/v1/nodes/n1/report",
        content=report("n1", card()).model_dump_json(by_alias=True),
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
    )


def test_only_the_plugins_account_speaks_and_only_for_its_own_node(
    cluster: FakeCluster, manager_of_cluster: RunningManager
) -> None:
    cluster.add_token("of-n1", FakeToken(PLUGIN, node="n1"))
    cluster.add_token("of-n2", FakeToken(PLUGIN, node="n2"))
    cluster.add_token("pod", FakeToken("system:serviceaccount:default:default", node="n1"))

    assert put(manager_of_cluster, "of-n1").status_code == 200
    assert put(manager_of_cluster, "of-n2").json()["code"] == "wrong_node"
    assert put(manager_of_cluster, "pod").status_code == 401
    cluster.away = True
    away = put(manager_of_cluster, "another")
    assert (away.status_code, away.json()["code"]) == (503, "cluster_unavailable")
