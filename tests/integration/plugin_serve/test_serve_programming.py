"""The plugin process is killed and ended while it programs: what it says afterwards."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from fpga_common.domain.operation import FailureCode
from fpga_common.testing.sim import SimulatedCard
from fpga_common.testing.waiting import wait_for
from fpga_common.wire.agent.v1 import agent_pb2 as pb
from support.agent_node import CALL_SECONDS, NEW_AFU, upload
from support.manager_double import ManagerDouble
from support.plugin_process import NODE, PluginProcess

TOKEN = "node-token"


@pytest.fixture
def manager(plugin: PluginProcess) -> Iterator[ManagerDouble]:
    token_file = plugin.root / "token"
    token_file.write_text(TOKEN)
    with ManagerDouble(token=TOKEN) as manager:
        plugin.settings["manager"] = {"url": manager.url, "token_file": str(token_file)}
        yield manager


@pytest.fixture
def card(plugin: PluginProcess) -> SimulatedCard:
    card = plugin.host.add_card("n3000")
    card.set_programming_seconds(0.0)
    return card


def _request(manager: ManagerDouble, card: SimulatedCard, attempt: int = 1) -> pb.ProgramRequest:
    return pb.ProgramRequest(
        node=NODE,
        operation_id=f"load-1.{attempt}",
        load_id="load-1",
        attempt=attempt,
        region_id=card.region_id,
        bitstream=upload(manager, card.interface_id, NEW_AFU),
        requested_by="ada",
    )


def _program(plugin: PluginProcess, request: pb.ProgramRequest) -> pb.ProgramEvent:
    with plugin.agent() as agent:
        return list(agent.Program(request, timeout=CALL_SECONDS))[-1]


def _begin(plugin: PluginProcess, request: pb.ProgramRequest, phase: "pb.Phase.ValueType") -> None:
    """Ask for the operation and go away once it is in ``phase``."""
    with plugin.agent() as agent:
        for event in agent.Program(request, timeout=CALL_SECONDS):
            if event.phase == phase:
                return
    raise AssertionError("the operation never came to that phase")


def _state(plugin: PluginProcess, card: SimulatedCard) -> set[str]:
    lines = plugin.get("/metrics").splitlines()
    prefix = f'fpga_region_state{{device="{card.region_id}",state="'
    return {
        line.removeprefix(prefix).split('"')[0]
        for line in lines
        if line.startswith(prefix) and line.endswith(" 1.0")
    }


def test_a_plugin_killed_while_it_programs_quarantines_the_region_and_says_interrupted(
    plugin: PluginProcess, manager: ManagerDouble, card: SimulatedCard
) -> None:
    card.set_programming_seconds(60.0)
    request = _request(manager, card)
    plugin.start()
    _begin(plugin, request, pb.PHASE_PROGRAMMING)
    assert plugin.process is not None
    plugin.process.kill()

    plugin.start()
    with plugin.agent() as agent:
        asked = pb.GetOperationRequest(node=NODE, operation_id=request.operation_id)
        operation = agent.GetOperation(asked, timeout=CALL_SECONDS)
    assert operation.ended
    assert operation.last_event.failure.code == FailureCode.INTERRUPTED
    assert operation.last_event.failure.retryable
    assert operation.last_event.percent > 0
    assert _state(plugin, card) == {"quarantined"}

    card.set_programming_seconds(0.0)
    again = _program(plugin, request)
    assert again.failure.code == FailureCode.INTERRUPTED, "an attempt is never executed twice"
    assert _program(plugin, _request(manager, card, attempt=2)).afu_id == NEW_AFU
    assert _state(plugin, card) == {"ready"}


def test_a_plugin_killed_before_it_writes_leaves_the_region_ready(
    plugin: PluginProcess, manager: ManagerDouble, card: SimulatedCard, tmp_path: Path
) -> None:
    request = _request(manager, card)
    plugin.start()
    manager.hold.set()
    _begin(plugin, request, pb.PHASE_FETCHING)
    assert plugin.process is not None
    plugin.process.kill()
    manager.hold.clear()

    plugin.start()
    assert _program(plugin, request).failure.code == FailureCode.INTERRUPTED
    assert _state(plugin, card) == {"ready"}
    assert card.afu_id != NEW_AFU


def test_a_plugin_that_is_ended_finishes_the_write_first(
    plugin: PluginProcess, manager: ManagerDouble, card: SimulatedCard
) -> None:
    card.set_programming_seconds(1.5)
    request = _request(manager, card)
    process = plugin.start()
    with plugin.agent() as agent:
        stream = agent.Program(request, timeout=CALL_SECONDS)
        for event in stream:
            if event.phase == pb.PHASE_PROGRAMMING:
                break
        process.terminate()
        wait_for(lambda: "plugin_stopping" in plugin.events())
        refused = _program(plugin, _request(manager, card, attempt=2))
        assert list(stream)[-1].phase == pb.PHASE_DONE
    assert refused.failure.code == FailureCode.SHUTTING_DOWN
    assert process.wait(CALL_SECONDS) == 0
    assert card.afu_id == NEW_AFU

    plugin.start()
    assert _program(plugin, request).phase == pb.PHASE_DONE
    assert _state(plugin, card) == {"ready"}


def test_an_interrupt_ends_an_idle_plugin_with_exit_code_0(plugin: PluginProcess) -> None:
    process = plugin.start()
    process._popen.send_signal(signal.SIGINT)
    assert process.wait(CALL_SECONDS) == 0
    assert plugin.events()[-1] == "plugin_stopped"
