"""The six calls of the manager, through the official client, to a cluster over real HTTP."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fpga_bitstream_manager.cluster import (
    Access,
    Cluster,
    ClusterRefused,
    ClusterUnavailable,
    Notice,
    open_cluster,
)
from fpga_bitstream_manager.cluster.node_tokens import ClusterNodeTokens
from fpga_bitstream_manager.settings import KubernetesSettings
from fpga_common.domain.errors import InvalidConfiguration
from fpga_common.testing.cluster import FakeCluster, FakePod, FakeToken
from fpga_common.testing.waiting import free_port

PLUGIN = "system:serviceaccount:fpga-system:fpga-plugin"


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    with FakeCluster() as fake:
        yield fake


@pytest.fixture
def token_file(tmp_path: Path, fake: FakeCluster) -> Path:
    path = tmp_path / "token"
    path.write_text(fake.token)
    return path


@pytest.fixture
def cluster(fake: FakeCluster, token_file: Path) -> Cluster:
    settings = KubernetesSettings(enabled=True, api_url=fake.url, token_file=str(token_file))
    return open_cluster(settings)


def test_a_valid_token_names_its_account_node_and_pod(fake: FakeCluster, cluster: Cluster) -> None:
    fake.add_token("secret", FakeToken(PLUGIN, node="node-a", pod="plugin-x"))
    owner = cluster.review_token("secret", "fpga-platform")
    assert owner is not None
    assert (owner.username, owner.node, owner.pod) == (PLUGIN, "node-a", "plugin-x")
    assert owner.namespace == "fpga-system"


@pytest.mark.parametrize("secret", ["unknown", "for-others"])
def test_an_unknown_token_and_one_for_another_audience_are_nobody_s(
    fake: FakeCluster, cluster: Cluster, secret: str
) -> None:
    fake.add_token("for-others", FakeToken(PLUGIN, audiences=("vault",), node="node-a"))
    assert cluster.review_token(secret, "fpga-platform") is None


def test_access_is_judged_by_user_verb_resource_and_name(
    fake: FakeCluster, cluster: Cluster
) -> None:
    fake.allow("alice", "use", "bitstreams.fpga-platform.io", "nlb0")
    asked = Access("alice", "use", "fpga-platform.io", "bitstreams", "default", "nlb0")
    assert cluster.may(asked)
    assert not cluster.may(Access("bob", "use", "fpga-platform.io", "bitstreams", name="nlb0"))
    assert not cluster.may(Access("alice", "use", "fpga-platform.io", "bitstreams", name="other"))


def test_labels_are_set_and_removed_and_others_stay(fake: FakeCluster, cluster: Cluster) -> None:
    fake.add_node("node-a", zone="west", old="1")
    cluster.label_node("node-a", {"fpga-platform.io/cards": "2", "old": None})
    assert cluster.node_labels("node-a") == {"zone": "west", "fpga-platform.io/cards": "2"}


def test_what_is_not_there_is_none(cluster: Cluster) -> None:
    assert cluster.node_labels("ghost") is None
    assert cluster.pod("default", "ghost") is None


def test_labelling_a_node_that_is_not_there_is_refused(cluster: Cluster) -> None:
    with pytest.raises(ClusterRefused, match="404"):
        cluster.label_node("ghost", {"a": "b"})


def test_a_pod_comes_with_what_concerns_fpgas(fake: FakeCluster, cluster: Cluster) -> None:
    told = fake.add_pod(
        FakePod(
            "trainer",
            "team",
            node="node-a",
            service_account="ml",
            annotations={"fpga-platform.io/afu": "nlb0"},
        )
    )
    pod = cluster.pod("team", "trainer")
    assert pod is not None
    assert (pod.uid, pod.node, pod.service_account) == (told.uid, "node-a", "ml")
    assert pod.annotations == {"fpga-platform.io/afu": "nlb0"}
    assert pod.phase == "Running"


def test_an_event_says_what_happened_to_whom(fake: FakeCluster, cluster: Cluster) -> None:
    cluster.notify(
        Notice("Pod", "trainer", "InterfaceMismatch", "expected 1, actual 2", warning=True)
    )
    cluster.notify(Notice("Node", "node-a", "FpgaUnhealthy", "card 0000:3b:00.0 is too hot"))
    first, second = fake.events
    assert first["involvedObject"]["name"] == "trainer"
    assert (first["type"], first["reason"]) == ("Warning", "InterfaceMismatch")
    assert first["metadata"]["name"] != second["metadata"]["name"]
    assert second["source"]["component"] == "fpga-platform"


def test_an_event_with_a_key_is_created_once_and_says_when_it_happened(
    fake: FakeCluster, cluster: Cluster
) -> None:
    at = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    notice = Notice("Node", "n" * 253, "FpgaHealthy", "well", uid="n", key="42", at=at)
    cluster.notify(notice)
    cluster.notify(notice)
    (event,) = fake.events
    assert event["metadata"]["name"] == "n" * 200 + ".42"
    assert event["firstTimestamp"].startswith("2026-11-30T12:00:00")


def test_a_missing_right_is_a_refusal_and_names_the_status(
    fake: FakeCluster, cluster: Cluster
) -> None:
    fake.add_node("node-a")
    fake.forbidden.add(("get", "nodes"))
    with pytest.raises(ClusterRefused, match="403"):
        cluster.node_labels("node-a")


def test_an_api_server_that_is_starting_or_away_can_be_asked_again(
    fake: FakeCluster, cluster: Cluster, token_file: Path
) -> None:
    fake.away = True
    with pytest.raises(ClusterUnavailable, match="503"):
        cluster.pod("default", "trainer")
    nobody = KubernetesSettings(
        api_url=f"http://127.0.0.1:{free_port()}", token_file=str(token_file)
    )
    with pytest.raises(ClusterUnavailable):
        open_cluster(nobody).pod("default", "trainer")


def test_a_renewed_token_is_used_without_a_restart(
    fake: FakeCluster, cluster: Cluster, token_file: Path
) -> None:
    fake.add_node("node-a")
    assert cluster.node_labels("node-a") == {}
    fake.token = "renewed"
    with pytest.raises(ClusterRefused, match="401"):
        cluster.node_labels("node-a")
    token_file.write_text("renewed\n")
    assert cluster.node_labels("node-a") == {}


def test_outside_a_pod_the_address_has_to_be_set() -> None:
    with pytest.raises(InvalidConfiguration, match=r"kubernetes\.api_url"):
        open_cluster(KubernetesSettings(enabled=True))


def test_only_the_plugin_s_account_speaks_for_a_node(fake: FakeCluster, cluster: Cluster) -> None:
    tokens = ClusterNodeTokens(cluster, "fpga-system/fpga-plugin")
    fake.add_token("plugin", FakeToken(PLUGIN, node="node-a", pod="plugin-x"))
    fake.add_token("other", FakeToken("system:serviceaccount:team:ml", node="node-a", pod="x"))
    assert tokens.node_of("plugin") == "node-a"
    assert tokens.node_of("other") is None
    assert tokens.node_of("unknown") is None


def test_before_kubernetes_1_30_the_node_is_that_of_the_token_s_pod(
    fake: FakeCluster, cluster: Cluster
) -> None:
    fake.add_pod(FakePod("plugin-x", "fpga-system", node="node-b"))
    fake.add_token("plugin", FakeToken(PLUGIN, pod="plugin-x"))
    assert ClusterNodeTokens(cluster, "fpga-system/fpga-plugin").node_of("plugin") == "node-b"


def test_a_token_is_reviewed_once_in_half_a_minute(fake: FakeCluster, cluster: Cluster) -> None:
    tokens = ClusterNodeTokens(cluster, "fpga-system/fpga-plugin")
    fake.add_token("plugin", FakeToken(PLUGIN, node="node-a"))
    assert [tokens.node_of("plugin") for _ in range(3)] == ["node-a"] * 3
    assert len(fake.requests) == 1
