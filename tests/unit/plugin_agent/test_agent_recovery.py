"""What a start does with operations that were left without an end."""

from pathlib import Path

import pytest

from fpga_common.domain.operation import FailureCode, Phase
from fpga_plugin.agent.journal import Journal
from fpga_plugin.agent.operation import Operation, first_event
from fpga_plugin.agent.recovery import settle_interrupted
from fpga_plugin.agent.reservations import Reservations
from support.agent_doubles import REGION, request


@pytest.mark.parametrize(
    ("phase", "quarantined"),
    [
        (Phase.ACCEPTED, False),
        (Phase.FETCHING, False),
        (Phase.CHECKING, False),
        (Phase.DRAINING, False),
        (Phase.PROGRAMMING, True),
        (Phase.VERIFYING, True),
    ],
)
def test_only_a_region_that_was_written_to_is_quarantined(
    tmp_path: Path, phase: Phase, quarantined: bool
) -> None:
    wanted, accepted = request(), first_event(request())
    operation = Operation(wanted, Journal(tmp_path).begin(wanted, accepted), (accepted,))
    if phase is not Phase.ACCEPTED:
        operation.enter(phase, "on the way")
    Reservations(tmp_path).reserve_for_programming(REGION, wanted.operation_id)

    journal, reservations = Journal(tmp_path), Reservations(tmp_path)
    assert settle_interrupted(journal, reservations) == (wanted.operation_id,)
    assert settle_interrupted(journal, reservations) == ()

    found = Journal(tmp_path).find(wanted.operation_id)
    assert found is not None
    assert found.last.failure is not None
    assert found.last.failure.code is FailureCode.INTERRUPTED
    assert found.last.sequence == len(found.events)
    reserved = Reservations(tmp_path).reserved()
    assert (REGION in reserved.quarantined, reserved.programming) == (quarantined, {})


def _programming(tmp_path: Path) -> Path:
    wanted, accepted = request(), first_event(request())
    operation = Operation(wanted, Journal(tmp_path).begin(wanted, accepted), (accepted,))
    Reservations(tmp_path).reserve_for_programming(REGION, wanted.operation_id)
    operation.enter(Phase.PROGRAMMING, "writing")
    return tmp_path / "operations" / "open" / f"{wanted.operation_id}.jsonl"


@pytest.mark.parametrize("content", [b"nonsense\n", b""])
def test_a_region_whose_operation_left_no_readable_record_is_quarantined(
    tmp_path: Path, content: bytes
) -> None:
    _programming(tmp_path).write_bytes(content)

    settle_interrupted(Journal(tmp_path), Reservations(tmp_path))

    reserved = Reservations(tmp_path).reserved()
    assert "left no record" in reserved.quarantined[REGION]
    assert reserved.programming == {}
