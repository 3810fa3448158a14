"""Programming on a node with a kubelet and pods: who keeps the card."""

from collections.abc import Iterator

import pytest

from fpga_common.domain.operation import FailureCode
from fpga_common.testing.kubelet import AdmissionFailed, FakeKubelet
from fpga_common.testing.sim import SimulatedCard
from fpga_common.testing.waiting import wait_for
from fpga_common.wire.agent.v1 import agent_pb2 as pb
from support.agent_node import CALL_SECONDS, NEW_AFU, upload
from support.manager_double import ManagerDouble
from support.plugin_process import NODE, PluginProcess

RESOURCE = "fpga-platform.io/fpga"
TOKEN = "node-token"


@pytest.fixture
def card(plugin: PluginProcess) -> SimulatedCard:
    card = plugin.host.add_card("n3000")
    card.set_programming_seconds(0.0)
    return card


@pytest.fixture
def kubelet(plugin: PluginProcess, card: SimulatedCard) -> Iterator[FakeKubelet]:
    with FakeKubelet(plugin.root / "k") as kubelet:
        plugin.settings["kubelet"] = {
            "device_plugin_dir": str(kubelet.device_plugin_dir),
            "pod_resources_socket": str(kubelet.pod_resources_socket),
        }
        yield kubelet


@pytest.fixture
def manager(plugin: PluginProcess, kubelet: FakeKubelet) -> Iterator[ManagerDouble]:
    (plugin.root / "token").write_text(TOKEN)
    with ManagerDouble(token=TOKEN) as manager:
        plugin.settings["manager"] = {
            "url": manager.url,
            "token_file": str(plugin.root / "token"),
        }
        plugin.start()
        wait_for(lambda: RESOURCE in kubelet.resources() and _allocatable(kubelet) == 1)
        yield manager


def _allocatable(kubelet: FakeKubelet) -> int:
    return kubelet.resources()[RESOURCE].allocatable


def _request(
    manager: ManagerDouble, card: SimulatedCard, load: str, *, force: bool = False
) -> pb.ProgramRequest:
    return pb.ProgramRequest(
        node=NODE,
        operation_id=f"{load}.1",
        load_id=load,
        attempt=1,
        region_id=card.region_id,
        bitstream=upload(manager, card.interface_id, NEW_AFU),
        force=force,
        requested_by="ada",
    )


def _program(plugin: PluginProcess, request: pb.ProgramRequest) -> list[pb.ProgramEvent]:
    with plugin.agent() as agent:
        return list(agent.Program(request, timeout=CALL_SECONDS))


def test_a_card_that_a_pod_has_is_programmed_only_after_the_pod(
    plugin: PluginProcess, kubelet: FakeKubelet, card: SimulatedCard, manager: ManagerDouble
) -> None:
    kubelet.run_pod("trainer", namespace="ml", limits={RESOURCE: 1})
    failure = _program(plugin, _request(manager, card, "load-1"))[-1].failure
    assert failure.code == FailureCode.REGION_HELD
    assert "ml/trainer" in failure.message
    assert _allocatable(kubelet) == 1, "a refused load takes nothing from the kubelet"

    kubelet.delete_pod("trainer", namespace="ml")
    assert _program(plugin, _request(manager, card, "load-2"))[-1].afu_id == NEW_AFU
    wait_for(lambda: _allocatable(kubelet) == 1)
    pod = kubelet.run_pod("next", limits={RESOURCE: 1})
    (container,) = pod.containers.values()
    assert container.envs["FPGA_AFU_IDS"] == NEW_AFU


def test_force_programs_a_held_card_and_names_the_pod(
    plugin: PluginProcess, kubelet: FakeKubelet, card: SimulatedCard, manager: ManagerDouble
) -> None:
    kubelet.run_pod("trainer", namespace="ml", limits={RESOURCE: 1})
    events = _program(plugin, _request(manager, card, "load-1", force=True))
    assert events[-1].afu_id == NEW_AFU
    assert any("ml/trainer" in event.message for event in events)


def test_no_pod_gets_a_card_that_is_being_programmed(
    plugin: PluginProcess, kubelet: FakeKubelet, card: SimulatedCard, manager: ManagerDouble
) -> None:
    card.set_programming_seconds(2.0)
    with plugin.agent() as agent:
        stream = agent.Program(_request(manager, card, "load-1"), timeout=CALL_SECONDS)
        for event in stream:
            if event.phase == pb.PHASE_PROGRAMMING:
                break
        assert _allocatable(kubelet) == 0
        with pytest.raises(AdmissionFailed):
            kubelet.run_pod("eager", limits={RESOURCE: 1})
        assert list(stream)[-1].phase == pb.PHASE_DONE
    wait_for(lambda: _allocatable(kubelet) == 1)


def test_a_card_is_not_written_while_the_kubelet_cannot_be_asked(
    plugin: PluginProcess, kubelet: FakeKubelet, card: SimulatedCard, manager: ManagerDouble
) -> None:
    kubelet.stop()
    request = _request(manager, card, "load-1")
    with plugin.agent() as agent:
        stream = agent.Program(request, timeout=CALL_SECONDS)
        for event in stream:
            if event.phase == pb.PHASE_DRAINING:
                break
        cancel = pb.CancelOperationRequest(node=NODE, operation_id=request.operation_id)
        assert agent.CancelOperation(cancel, timeout=CALL_SECONDS).accepted
        assert list(stream)[-1].failure.code == FailureCode.CANCELLED
    assert card.afu_id != NEW_AFU
