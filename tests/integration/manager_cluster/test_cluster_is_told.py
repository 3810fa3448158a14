"""Labels and Events of Nodes: reports into a real ledger, rounds to a cluster over real HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from structlog.testing import capture_logs

from fpga_bitstream_manager.ledger import NodeEventRow
from support.node_reports import INTERFACE, card, verdict
from support.told_cluster import ToldCluster

NODE = "n1"
CARD = "0000:3b:00.0"
OUR_LABELS = {
    "fpga-platform.io/present": "true",
    "fpga-platform.io/cards": "1",
    "fpga-platform.io/model.intel-fpga-pac-n3000": "true",
    f"fpga-platform.io/interface.{INTERFACE}": "true",
}
HOT = verdict("unhealthy") | {
    "reasons": [{"check": "temperature", "severity": "fatal", "message": "96 °C", "since": 1.0}]
}


@pytest.fixture
def told(tmp_path: Path) -> Iterator[ToldCluster]:
    own = ToldCluster(tmp_path)
    yield own
    own.stop()


def words(logs: list[Any]) -> list[str]:
    return [line["event"] for line in logs]


def test_a_reporting_node_is_labelled_once_and_keeps_other_labels(told: ToldCluster) -> None:
    node = told.fake.add_node(NODE, zone="west")
    node.labels["fpga-platform.io/team"] = "a"
    told.report(NODE, card())
    told.tell(rounds=3)
    assert node.labels == {"zone": "west", "fpga-platform.io/team": "a"} | OUR_LABELS
    assert (told.calls("GET"), told.calls("PATCH")) == (1, 1)


def test_labels_follow_the_cards_and_go_with_the_last_one(told: ToldCluster) -> None:
    node = told.fake.add_node(NODE, zone="west")
    told.report(NODE, card(), card("0000:5e:00", model="Intel FPGA PAC D5005"))
    told.tell()
    assert node.labels["fpga-platform.io/cards"] == "2"
    told.report(NODE, card())
    told.tell()
    assert node.labels == {"zone": "west"} | OUR_LABELS
    told.report(NODE)
    told.tell()
    assert node.labels == {"zone": "west"}


def test_a_reconciler_that_starts_patches_only_what_differs(told: ToldCluster) -> None:
    node = told.fake.add_node(NODE)
    told.report(NODE, card())
    told.tell()
    told.restart()
    told.tell()
    assert told.calls("PATCH") == 1
    node.labels["fpga-platform.io/model.old"] = "true"
    told.restart()
    told.tell()
    assert (told.calls("PATCH"), node.labels) == (2, OUR_LABELS)


def test_a_stale_node_keeps_what_it_has(told: ToldCluster) -> None:
    told.fake.add_node(NODE)
    told.report(NODE, card())
    told.tell()
    with told.services.ledger.transaction() as session:
        session.connection().exec_driver_sql("UPDATE nodes SET stale = 1")
    told.restart()
    told.tell()
    assert (told.fake.nodes[NODE].labels, told.calls("GET")) == (OUR_LABELS, 1)


def test_a_node_unknown_to_the_api_server_is_said_once_and_stops_nobody(told: ToldCluster) -> None:
    known = told.fake.add_node("n2")
    told.report("n1", card())
    told.report("n2", card())
    with capture_logs() as logs:
        told.tell()
        told.report("n1", card(), card("0000:5e:00"))
        told.tell()
    assert words(logs).count("node_unknown_to_cluster") == 1
    assert known.labels == OUR_LABELS


def test_a_device_s_fault_and_recovery_are_an_event_each_across_restarts(
    told: ToldCluster,
) -> None:
    told.report(NODE, card())
    told.tell()
    assert told.fake.events == []
    told.report(NODE, card(health=HOT))
    told.tell(rounds=2)
    told.restart()
    told.tell(rounds=2)
    (event,) = told.fake.events
    assert (event["type"], event["reason"]) == ("Warning", "FpgaUnhealthy")
    assert event["message"] == f"device {CARD}-r0 (Intel FPGA PAC N3000) is unhealthy: 96 °C"
    assert event["involvedObject"] == {
        "apiVersion": "v1",
        "kind": "Node",
        "name": NODE,
        "uid": NODE,
    }
    told.report(NODE, card())
    told.tell()
    told.restart()
    told.tell()
    told.report(NODE, card(health=HOT))
    told.tell()
    assert told.reasons() == ["FpgaUnhealthy", "FpgaHealthy", "FpgaUnhealthy"]


def test_a_card_that_vanishes_and_returns_is_an_event_each(told: ToldCluster) -> None:
    told.report(NODE, card())
    told.tell()
    told.report(NODE)
    told.tell()
    told.restart()
    told.tell()
    told.report(NODE, card())
    told.tell()
    assert told.reasons() == ["FpgaCardVanished", "FpgaCardReturned"]
    assert told.fake.events[0]["message"] == (
        f"card {CARD} (Intel FPGA PAC N3000) vanished: the node no longer reports it"
    )


def test_a_failed_load_is_one_event_and_no_old_one_is_told(told: ToldCluster) -> None:
    told.report(NODE, card())
    load = told.fail_load(NODE, f"{CARD}-r0")
    told.tell(rounds=2)
    told.restart()
    told.tell()
    (event,) = told.fake.events
    assert (event["type"], event["reason"]) == ("Warning", "FpgaLoadFailed")
    assert event["message"].startswith(f"load {load} of nlb0 into device {CARD}-r0 failed: the")
    told.clock.forward(hours=3)
    told.report(NODE, card(health=HOT))  # forgets the load's Event
    told.restart()
    told.tell()
    assert told.reasons() == ["FpgaLoadFailed", "FpgaUnhealthy"]


def test_an_event_whose_answer_was_lost_is_not_created_twice(told: ToldCluster) -> None:
    told.report(NODE, card(health=HOT))
    told.tell()
    with told.services.ledger.transaction() as session:
        session.execute(update(NodeEventRow).values(sent_at=None))
    told.restart()
    told.tell(rounds=2)
    assert (told.reasons(), told.calls("POST")) == (["FpgaUnhealthy"], 2)


def test_changes_while_the_api_server_is_away_are_told_when_it_is_back(told: ToldCluster) -> None:
    told.fake.add_node(NODE)
    told.fake.away = True
    told.report(NODE, card())
    with capture_logs() as logs:
        told.tell(rounds=2)
        told.report(NODE, card(health=HOT))
        told.tell()
        told.report(NODE, card())
        told.tell()
        told.fake.away = False
        told.tell(rounds=2)
    assert told.reasons() == ["FpgaUnhealthy", "FpgaHealthy"]
    assert told.fake.nodes[NODE].labels == OUR_LABELS
    assert words(logs).count("cluster_not_told") == 1
    assert words(logs).count("cluster_told_again") == 1


def test_a_missing_right_is_said_once_and_ends_when_it_is_given(told: ToldCluster) -> None:
    told.fake.add_node(NODE)
    told.fake.forbidden.add(("patch", "nodes"))
    told.report(NODE, card())
    with capture_logs() as logs:
        told.tell(rounds=3)
    assert words(logs).count("cluster_not_told") == 1
    told.fake.forbidden.clear()
    told.tell()
    assert told.fake.nodes[NODE].labels == OUR_LABELS
