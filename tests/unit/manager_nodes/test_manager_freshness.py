"""What is shown of nodes that fall silent, and that unchanged reports write nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import event

from fpga_bitstream_manager.api.app import create_app
from fpga_bitstream_manager.nodes.freshness import judge
from fpga_bitstream_manager.nodes.values import devices_of, worst_of
from fpga_bitstream_manager.services import Services
from fpga_common.contract.inventory import VerdictDocument
from fpga_common.contract.report import NodeReport
from support.manager_services import ADMIN, NODE, NODE_HEADERS, SetClock, open_services
from support.node_reports import card, holder, report, verdict

NOW = datetime(2026, 11, 30, tzinfo=UTC)
REGION = "0000:3b:00.0-r0"


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def services(tmp_path: Path, clock: SetClock) -> Iterator[Services]:
    own = open_services(tmp_path, clock)
    yield own
    own.close()


@pytest.fixture
def web(services: Services) -> FlaskClient:
    return create_app(services).test_client()


def send(web: FlaskClient, message: NodeReport) -> None:
    answer = web.put(
        f"/internal/v1/nodes/{NODE}/report",
        data=message.model_dump_json(by_alias=True),
        headers=NODE_HEADERS,
    )
    assert answer.status_code == 200, answer.text


def listed(web: FlaskClient, **query: str) -> list[str]:
    answer = web.get("/api/v1/devices", query_string=query, headers=ADMIN)
    return [device["id"] for device in answer.get_json()["items"]]


def test_after_90_seconds_of_silence_nothing_of_a_node_is_shown_as_true(
    web: FlaskClient, clock: SetClock
) -> None:
    send(web, report(NODE, card()))
    clock.forward(seconds=90)
    assert listed(web, health="healthy") == [REGION]

    clock.forward(seconds=1)

    device = web.get(f"/api/v1/devices/{NODE}/{REGION}", headers=ADMIN).get_json()
    assert device["stale"]
    assert device["health"]["status"] == "unknown"
    assert "last heard of" in device["health"]["reasons"][0]["message"]
    assert device["sensors"] == {}
    assert listed(web, health="healthy") == []
    assert listed(web, health="unknown") == [REGION]
    node = web.get(f"/api/v1/nodes/{NODE}", headers=ADMIN).get_json()
    assert (node["stale"], node["devices"], node["devices_healthy"]) == (True, 1, 0)
    overview = web.get("/api/v1/overview", headers=ADMIN).get_json()
    assert (overview["nodes_stale"], overview["devices_by_health"]["unknown"]) == (1, 1)


def test_a_node_that_speaks_again_is_shown_as_it_is(web: FlaskClient, clock: SetClock) -> None:
    send(web, report(NODE, card()))
    clock.forward(minutes=10)
    send(web, report(NODE, card(), digest="two"))

    assert listed(web, health="healthy") == [REGION]


def test_a_report_that_says_the_same_changes_no_device_row(
    web: FlaskClient, services: Services
) -> None:
    warmer = card(sensors={"temperature_celsius": 55.0})
    holders = (holder(REGION),)
    send(web, report(NODE, card(), holders=holders))
    statements: list[str] = []
    event.listen(
        services.ledger.engine,
        "before_cursor_execute",
        lambda *arguments: statements.append(arguments[2]),
    )

    send(web, report(NODE, warmer, digest="two", holders=holders))

    writes = [text for text in statements if not text.startswith(("SELECT", "BEGIN"))]
    assert writes
    assert not [text for text in writes if "devices" in text or "holders" in text]


def test_a_device_keeps_its_desired_afu_and_cordon_over_reports(
    web: FlaskClient, services: Services
) -> None:
    from fpga_bitstream_manager.ledger import DeviceRow

    send(web, report(NODE, card()))
    with services.ledger.transaction() as session:
        row = session.get(DeviceRow, (NODE, REGION))
        assert row is not None
        row.desired_afu_id, row.cordoned = "0" * 32, True
    send(web, report(NODE, card(model="renamed"), digest="two"))

    device = web.get(f"/api/v1/devices/{NODE}/{REGION}", headers=ADMIN).get_json()
    assert (device["model"], device["cordoned"], device["drift"]) == ("renamed", True, True)


def test_the_later_of_ledger_and_redis_counts() -> None:
    old, new = NOW - timedelta(seconds=200), NOW - timedelta(seconds=5)

    fresh = judge({"a": old, "b": new, "c": old}, {"a": new, "b": old}, NOW)

    assert fresh.stale == {"c"}
    assert fresh.last_seen == {"a": new, "b": new, "c": old}


def test_a_device_is_as_bad_as_the_worse_of_card_and_region() -> None:
    reason = {"check": "link", "severity": "warning", "message": "x4 of x16", "since": 1.0}
    card_verdict = VerdictDocument.model_validate(verdict("warning") | {"reasons": [reason]})
    region_verdict = VerdictDocument.model_validate(verdict())

    both = worst_of(card_verdict, region_verdict)

    assert both.status == "warning"
    assert [found.check for found in both.reasons] == ["link"]


def test_every_region_of_every_card_is_a_device() -> None:
    two_regions = card()
    two_regions["regions"] = [
        two_regions["regions"][0],
        two_regions["regions"][0] | {"id": "0000:3b:00.0-r1"},
    ]

    devices = devices_of(report(NODE, two_regions, card("0000:5e:00")))

    assert sorted(devices) == [REGION, "0000:3b:00.0-r1", "0000:5e:00.0-r0"]
