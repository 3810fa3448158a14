"""Who may call the agent, as whom, and what else it answers."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import grpc
import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID

from fpga_bitstream_manager.bootstrap.certificates import _issue, make_authority, parse_pair
from fpga_common.domain.card import RegionState
from fpga_common.domain.errors import InvalidConfiguration
from fpga_common.wire.agent.v1 import agent_pb2 as pb
from fpga_plugin.agent.certificate import ensure_certificate, is_current
from fpga_plugin.agent.server import require_safe
from fpga_plugin.settings import AgentSettings
from support.agent_node import CALL_SECONDS, NODE, AgentNode

_INVENTORY = pb.GetInventoryRequest(node=NODE)


def _status(error: grpc.RpcError) -> grpc.StatusCode:
    status: grpc.StatusCode = cast("Any", error).code()
    return status


def test_the_manager_gets_the_inventory(node: AgentNode) -> None:
    with node.stub() as agent:
        answer = agent.GetInventory(_INVENTORY, timeout=CALL_SECONDS)
    (card,) = json.loads(answer.inventory_json)["cards"]
    assert card["id"] == node.card.id
    assert card["regions"][0]["interface_id"] == node.card.interface_id


def test_the_manager_gets_samples_of_the_sensors(node: AgentNode) -> None:
    with node.stub() as agent:
        request = pb.GetTelemetryRequest(node=NODE, card_id=node.card.id)
        samples = agent.GetTelemetry(request, timeout=CALL_SECONDS).samples
    assert "temperature_celsius" in {sample.sensor for sample in samples}


def test_another_client_of_the_same_authority_is_refused(node: AgentNode) -> None:
    authority = parse_pair(
        (node.trust / "ca.crt").read_bytes(), (node.trust / "ca.key").read_bytes()
    )
    stranger = _issue(authority, "somebody", ExtendedKeyUsageOID.CLIENT_AUTH, ("somebody",))
    credentials = grpc.ssl_channel_credentials(
        node.identity.certificate.read_bytes(), stranger.key_pem, stranger.certificate_pem
    )
    with node.stub(credentials) as agent, pytest.raises(grpc.RpcError) as refused:
        agent.GetInventory(_INVENTORY, timeout=CALL_SECONDS)
    assert _status(refused.value) is grpc.StatusCode.PERMISSION_DENIED

    with node.stub(credentials) as agent, pytest.raises(grpc.RpcError) as refused:
        list(agent.Program(node.request(node.upload()), timeout=CALL_SECONDS))
    assert _status(refused.value) is grpc.StatusCode.PERMISSION_DENIED
    assert node.manager.fetched == []


def test_a_client_of_another_authority_gets_no_connection(node: AgentNode) -> None:
    other = make_authority()
    impostor = _issue(
        other, "fpga-bitstream-manager", ExtendedKeyUsageOID.CLIENT_AUTH, ("somebody",)
    )
    credentials = grpc.ssl_channel_credentials(
        node.identity.certificate.read_bytes(), impostor.key_pem, impostor.certificate_pem
    )
    with node.stub(credentials) as agent, pytest.raises(grpc.RpcError) as refused:
        agent.GetInventory(_INVENTORY, timeout=CALL_SECONDS)
    assert _status(refused.value) is grpc.StatusCode.UNAVAILABLE


def test_a_client_without_certificate_gets_no_connection(node: AgentNode) -> None:
    credentials = grpc.ssl_channel_credentials(node.identity.certificate.read_bytes())
    with node.stub(credentials) as agent, pytest.raises(grpc.RpcError) as refused:
        agent.GetInventory(_INVENTORY, timeout=CALL_SECONDS)
    assert _status(refused.value) is grpc.StatusCode.UNAVAILABLE


def test_the_agent_is_not_taken_for_another_node(node: AgentNode) -> None:
    with node.stub(name="sim-b") as agent, pytest.raises(grpc.RpcError) as refused:
        agent.GetInventory(_INVENTORY, timeout=CALL_SECONDS)
    assert _status(refused.value) is grpc.StatusCode.UNAVAILABLE


def test_a_request_for_another_node_is_refused_by_every_method(node: AgentNode) -> None:
    other = node.request(node.upload(), node="sim-b")
    with node.stub() as agent:
        calls: list[Callable[[], object]] = [
            lambda: agent.GetInventory(pb.GetInventoryRequest(node="sim-b"), timeout=CALL_SECONDS),
            lambda: agent.GetTelemetry(pb.GetTelemetryRequest(node=""), timeout=CALL_SECONDS),
            lambda: list(agent.Program(other, timeout=CALL_SECONDS)),
            lambda: agent.GetOperation(pb.GetOperationRequest(node="sim-b"), timeout=CALL_SECONDS),
            lambda: agent.CancelOperation(
                pb.CancelOperationRequest(node="sim-b"), timeout=CALL_SECONDS
            ),
            lambda: agent.SetReserved(pb.SetReservedRequest(node="sim-b"), timeout=CALL_SECONDS),
        ]
        for call in calls:
            with pytest.raises(grpc.RpcError, match="wrong_node") as refused:
                call()
            assert _status(refused.value) is grpc.StatusCode.FAILED_PRECONDITION


def test_an_operation_nobody_asked_for_is_not_found(node: AgentNode) -> None:
    with node.stub() as agent:
        with pytest.raises(grpc.RpcError) as refused:
            agent.GetOperation(
                pb.GetOperationRequest(node=NODE, operation_id="load-9.1"), timeout=CALL_SECONDS
            )
        assert _status(refused.value) is grpc.StatusCode.NOT_FOUND
        with pytest.raises(grpc.RpcError) as refused:
            agent.GetOperation(
                pb.GetOperationRequest(node=NODE, operation_id="../state"), timeout=CALL_SECONDS
            )
        assert _status(refused.value) is grpc.StatusCode.INVALID_ARGUMENT


def test_a_card_is_cordoned_and_uncordoned_with_all_its_regions(node: AgentNode) -> None:
    def set_reserved(reservation: "pb.Reservation.ValueType", device: str) -> list[str]:
        request = pb.SetReservedRequest(
            node=NODE, device_id=device, reservation=reservation, reason="maintenance"
        )
        with node.stub() as agent:
            return list(agent.SetReserved(request, timeout=CALL_SECONDS).region_ids)

    assert set_reserved(pb.RESERVATION_CORDON, node.card.id) == [node.card.region_id]
    found = node.store.snapshot().region(node.card.region_id)
    assert found is not None
    assert (found[1].state, found[1].reason) == (RegionState.RESERVED, "cordoned: maintenance")

    set_reserved(pb.RESERVATION_UNCORDON, node.card.region_id)
    found = node.store.snapshot().region(node.card.region_id)
    assert found is not None
    assert found[1].state is RegionState.READY
    with pytest.raises(grpc.RpcError, match="unknown_device"):
        set_reserved(pb.RESERVATION_CORDON, "0000:99:00.0")


def test_without_client_authority_only_loopback_is_served() -> None:
    require_safe(AgentSettings(bind="127.0.0.1:9444"))
    require_safe(AgentSettings(bind="[::1]:9444"))
    with pytest.raises(InvalidConfiguration, match=r"agent\.client_ca_file"):
        require_safe(AgentSettings(bind="0.0.0.0:9444"))


def test_a_certificate_is_kept_until_it_nears_its_end_or_the_node_changes(
    node: AgentNode,
) -> None:
    files = node.identity
    before = files.certificate.read_bytes()
    assert ensure_certificate(files.folder.parent, NODE).certificate.read_bytes() == before
    not_after = json.loads(files.facts.read_text())["not_after"]
    assert not is_current(files, NODE, now=not_after - timedelta(days=30).total_seconds())
    assert ensure_certificate(files.folder.parent, "sim-b").certificate.read_bytes() != before
