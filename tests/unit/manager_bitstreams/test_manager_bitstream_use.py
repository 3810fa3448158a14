"""What keeps a bitstream from being deleted, and what an upload does to names in the ledger."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from fpga_bitstream_manager.api.app import create_app
from fpga_bitstream_manager.ledger import DeviceRow
from fpga_bitstream_manager.services import Services
from fpga_common.testing.sim import make_gbs
from support.manager_services import ADMIN, NODE, NODE_HEADERS, SetClock, open_services
from support.node_reports import AFU, INTERFACE, OTHER_AFU, card, report

REGION = "0000:3b:00.0-r0"
OCTETS = {**ADMIN, "Content-Type": "application/octet-stream"}


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    own = open_services(tmp_path, SetClock())
    yield own
    own.close()


@pytest.fixture
def web(services: Services) -> FlaskClient:
    client = create_app(services).test_client()
    answer = client.put(
        f"/internal/v1/nodes/{NODE}/report",
        data=report(NODE, card()).model_dump_json(by_alias=True),
        headers=NODE_HEADERS,
    )
    assert answer.status_code == 200
    return client


@pytest.fixture
def digest(web: FlaskClient) -> str:
    answer = web.post(
        "/api/v1/bitstreams?name=other", data=make_gbs(INTERFACE, OTHER_AFU), headers=OCTETS
    )
    assert answer.status_code == 201
    return str(answer.get_json()["digest"])


def test_a_bitstream_that_an_open_load_needs_stays(web: FlaskClient, digest: str) -> None:
    asked = {"bitstream": "other", "target": {"node": NODE, "device": REGION}}
    load = web.post("/api/v1/loads", json=asked, headers=ADMIN).get_json()

    refused = web.delete(f"/api/v1/bitstreams/{digest}", headers=ADMIN)

    assert (refused.status_code, refused.get_json()["code"]) == (409, "bitstream_in_use")
    assert load["id"] in refused.get_json()["detail"]
    web.post(f"/api/v1/loads/{load['id']}/cancel", headers=ADMIN)
    assert web.delete(f"/api/v1/bitstreams/{digest}", headers=ADMIN).status_code == 204


def test_a_bitstream_that_is_a_desired_afu_stays(
    web: FlaskClient, services: Services, digest: str
) -> None:
    with services.ledger.transaction() as session:
        row = session.get(DeviceRow, (NODE, REGION))
        assert row is not None
        row.desired_digest, row.desired_afu_id = digest, OTHER_AFU

    refused = web.delete(f"/api/v1/bitstreams/{digest}", headers=ADMIN)

    assert (refused.status_code, refused.get_json()["actual"]) == (409, f"{NODE}/{REGION}")
    device = web.get(f"/api/v1/devices/{NODE}/{REGION}", headers=ADMIN).get_json()
    assert (device["desired_bitstream"], device["drift"]) == ("other", True)


def test_a_bitstream_counts_the_devices_that_have_its_afu(web: FlaskClient, digest: str) -> None:
    same = web.post("/api/v1/bitstreams?name=same", data=make_gbs(INTERFACE, AFU), headers=OCTETS)

    assert same.get_json()["devices"] == 1
    other = web.get(f"/api/v1/bitstreams/{digest}", headers=ADMIN).get_json()
    assert other["devices"] == 0


def test_bytes_that_got_lost_are_restored_by_the_same_upload(
    web: FlaskClient, services: Services, digest: str
) -> None:
    services.blobs.delete(digest)
    path = f"/internal/v1/bitstreams/{digest}"
    lost = web.get(path, headers=NODE_HEADERS)
    assert (lost.status_code, lost.get_json()["code"]) == (404, "blob_missing")

    content = make_gbs(INTERFACE, OTHER_AFU)
    again = web.post("/api/v1/bitstreams?name=other", data=content, headers=OCTETS)

    assert again.status_code == 200
    with web.get(path, headers=NODE_HEADERS) as found:
        assert found.data == content


def test_a_load_of_a_bitstream_for_another_region_is_refused_with_both_ids(
    web: FlaskClient,
) -> None:
    content = make_gbs("f" * 31 + "0", OTHER_AFU)
    web.post("/api/v1/bitstreams?name=misfit", data=content, headers=OCTETS)
    asked = {"bitstream": "misfit", "target": {"node": NODE, "device": REGION}}

    refused = web.post("/api/v1/loads", json=asked, headers=ADMIN)

    problem = refused.get_json()
    assert (refused.status_code, problem["code"]) == (409, "interface_mismatch")
    assert (problem["expected"], problem["actual"]) == (INTERFACE, "f" * 31 + "0")


def test_the_scrape_counts_nodes_devices_and_components(web: FlaskClient) -> None:
    text = web.get("/metrics").text

    assert 'fpga_manager_nodes{state="fresh"} 1.0' in text
    assert 'fpga_manager_devices{health="healthy"} 1.0' in text
    assert 'fpga_manager_component_up{component="ledger"} 1.0' in text
    assert 'fpga_manager_component_up{component="redis"} 0.0' in text
