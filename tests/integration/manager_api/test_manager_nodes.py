"""Node reports and what is answered from them, against a real API process."""

import uuid
from collections.abc import Iterator

import httpx2
import pytest

from fpga_common.client import ManagerClient, ManagerProblem
from fpga_common.contract.report import NodeHeartbeat, NodeReport, ReportAnswer
from fpga_common.domain.health import HealthStatus
from support.node_reports import AFU, OTHER_AFU, card, holder, report, verdict
from support.running_manager import RunningManager

REGION = "0000:3b:00.0-r0"


class ReportingNode:
    """A node that reports with its own token."""

    def __init__(self, manager: RunningManager) -> None:
        self.name = f"node-{uuid.uuid4().hex[:8]}"
        self.token = manager.add_node_token(self.name)
        self._http = httpx2.Client(base_url=manager.url, timeout=30)

    def put(
        self, message: NodeReport | NodeHeartbeat, *, path: str | None = None, token: str = ""
    ) -> httpx2.Response:
        return self._http.put(
            f"/internal/v1/nodes/{path or self.name}/report",
            content=message.model_dump_json(by_alias=True),
            headers={
                "Authorization": f"Bearer {token or self.token}",
                "Content-Type": "application/json",
            },
        )

    def report(self, message: NodeReport | NodeHeartbeat) -> ReportAnswer:
        answer = self.put(message)
        assert answer.status_code == 200, answer.text
        return ReportAnswer.model_validate_json(answer.content)

    def close(self) -> None:
        self._http.close()


@pytest.fixture
def node(manager: RunningManager) -> Iterator[ReportingNode]:
    reporting = ReportingNode(manager)
    yield reporting
    reporting.close()


def test_a_reported_card_is_a_device_with_everything_the_node_said(
    node: ReportingNode, client: ManagerClient
) -> None:
    node.report(report(node.name, card()))

    device = client.device(node.name, REGION)

    assert device.card == "0000:3b:00.0"
    assert device.vendor_device == "8086:0b30"
    assert device.afu_id == AFU
    assert device.health.status is HealthStatus.HEALTHY
    assert device.sensors == {"temperature_celsius": 41.5}
    assert device.device_nodes == ["/dev/dfl-port.0"]
    assert not device.stale
    assert device.holder is None
    shown = client.node(node.name)
    assert (shown.cards, shown.devices, shown.devices_healthy) == (1, 1, 1)
    assert shown.pools[0].registered


def test_a_heartbeat_brings_the_newest_sensors(node: ReportingNode, client: ManagerClient) -> None:
    message = report(node.name, card(), digest="abc")
    node.report(message)
    hotter = {"0000:3b:00.0": {"temperature_celsius": 77.0}}
    beat = NodeHeartbeat(
        node=node.name, digest="abc", reported_at=message.reported_at, sensors=hotter
    )

    assert not node.report(beat).full_report_wanted

    assert client.device(node.name, REGION).sensors == {"temperature_celsius": 77.0}


def test_a_heartbeat_with_an_unknown_digest_is_asked_for_the_full_report(
    node: ReportingNode,
) -> None:
    message = report(node.name, card(), digest="abc")
    beat = NodeHeartbeat(node=node.name, digest="abc", reported_at=message.reported_at)

    assert node.report(beat).full_report_wanted
    assert not node.report(message).full_report_wanted
    assert not node.report(beat).full_report_wanted


def test_holders_are_allocations_and_end_with_the_next_report(
    node: ReportingNode, client: ManagerClient
) -> None:
    node.report(report(node.name, card(), holders=(holder(REGION),)))

    (allocation,) = client.allocations(node=node.name)
    assert (allocation.namespace, allocation.pod) == ("default", "web-0")
    held = client.device(node.name, REGION).holder
    assert held is not None
    assert held.pod == "web-0"
    assert client.node(node.name).devices_held == 1
    assert [d.id for d in client.devices(node=node.name, held=True)] == [REGION]

    node.report(report(node.name, card(), digest="two"))
    assert list(client.allocations(node=node.name)) == []
    assert [d.id for d in client.devices(node=node.name, held=False)] == [REGION]


def test_a_card_that_is_no_longer_reported_is_missing_and_its_health_unknown(
    node: ReportingNode, client: ManagerClient
) -> None:
    node.report(report(node.name, card(), card("0000:5e:00")))
    node.report(report(node.name, card(), digest="two"))

    gone = client.device(node.name, "0000:5e:00.0-r0")

    assert gone.state == "missing"
    assert gone.health.status is HealthStatus.UNKNOWN
    node.report(report(node.name, card(), card("0000:5e:00"), digest="three"))
    assert client.device(node.name, "0000:5e:00.0-r0").state == "ready"


def test_a_card_without_regions_is_listed_with_its_reason(
    node: ReportingNode, client: ManagerClient
) -> None:
    broken = card(regions=[], notes=["port0: afu_id cannot be read"], health=verdict("unhealthy"))
    node.report(report(node.name, broken))

    (device,) = client.devices(node=node.name)

    assert (device.id, device.state) == ("0000:3b:00.0", "unusable")
    assert device.reason == "port0: afu_id cannot be read"
    assert device.health.status is HealthStatus.UNHEALTHY


def test_devices_are_filtered_and_paged(node: ReportingNode, client: ManagerClient) -> None:
    slots = [f"0000:{bus:02x}:00" for bus in range(5)]
    cards = [card(slot, afu=OTHER_AFU if slot == slots[2] else AFU) for slot in slots]
    cards[3]["health"] = verdict("unhealthy")
    node.report(report(node.name, *cards))

    def ids(**filters: str | int | bool) -> list[str]:
        return [device.card[:-2] for device in client.devices(node=node.name, **filters)]

    assert ids(limit=2) == slots
    assert ids(afu_id=OTHER_AFU) == [slots[2]]
    assert ids(health="unhealthy") == [slots[3]]
    assert ids(state="ready") == slots
    assert ids(model="no such model") == []


@pytest.mark.parametrize("limit", ["0", "-1", "many"])
def test_a_wrong_limit_is_400(http: httpx2.Client, limit: str) -> None:
    answer = http.get("/api/v1/devices", params={"limit": limit})

    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid_parameter"


def test_a_limit_above_200_counts_as_200(http: httpx2.Client) -> None:
    assert http.get("/api/v1/devices", params={"limit": "5000"}).status_code == 200


def test_unknown_and_repeated_parameters_are_400(http: httpx2.Client) -> None:
    unknown = http.get("/api/v1/devices", params={"colour": "red"})
    repeated = http.get("/api/v1/devices?node=a&node=b")

    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (400, "colour")
    assert (repeated.status_code, repeated.json()["code"]) == (400, "repeated_parameter")


def test_unknown_nodes_and_devices_are_404(node: ReportingNode, client: ManagerClient) -> None:
    node.report(report(node.name, card()))

    with pytest.raises(ManagerProblem) as no_node:
        client.node("nowhere")
    with pytest.raises(ManagerProblem) as no_device:
        client.device(node.name, "0000:00:00.0-r0")

    assert no_node.value.problem.code == "unknown_node"
    assert no_device.value.problem.code == "unknown_device"


def test_a_node_cannot_speak_as_another_node(
    node: ReportingNode, manager: RunningManager, client: ManagerClient
) -> None:
    other = manager.add_node_token(f"{node.name}-other")

    foreign_token = node.put(report(node.name, card()), token=other)
    foreign_body = node.put(report(f"{node.name}-other", card()))
    admins_token = node.put(report(node.name, card()), token="an-admin-token-for-tests")
    no_token = node.put(report(node.name, card()), token="made-up")

    assert (foreign_token.status_code, foreign_token.json()["code"]) == (403, "wrong_node")
    assert (foreign_body.status_code, foreign_body.json()["code"]) == (403, "wrong_node")
    assert (admins_token.status_code, admins_token.json()["code"]) == (403, "nodes_only")
    assert no_token.status_code == 401
    with pytest.raises(ManagerProblem):
        client.node(node.name)


def test_a_node_token_opens_nothing_of_the_public_api(
    node: ReportingNode, manager: RunningManager
) -> None:
    with manager.client(node.token) as as_node, pytest.raises(ManagerProblem) as refused:
        as_node.whoami()
    assert refused.value.status == 401


def test_a_report_that_makes_no_sense_is_422_and_changes_nothing(
    node: ReportingNode, http: httpx2.Client
) -> None:
    answer = http.put(
        f"/internal/v1/nodes/{node.name}/report",
        json={"node": node.name, "digest": 5},
        headers={"Authorization": f"Bearer {node.token}"},
    )

    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_report"
    assert answer.json()["errors"][0]["pointer"] == "/digest"


def test_the_overview_counts_what_was_reported(node: ReportingNode, client: ManagerClient) -> None:
    before = client.overview()
    node.report(report(node.name, card(), card("0000:5e:00"), holders=(holder(REGION),)))

    after = client.overview()

    assert after.nodes == before.nodes + 1
    assert after.devices == before.devices + 2
    assert after.cards == before.cards + 2
    assert after.devices_held == before.devices_held + 1
    assert after.devices_by_health["healthy"] == before.devices_by_health["healthy"] + 2
