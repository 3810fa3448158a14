"""Values to protobuf messages and back. Unknown codes of a newer agent count as internal."""

import json
from typing import Final

from fpga_bitstream_manager.loads.values import (
    Assignment,
    Failed,
    OperationEnd,
    Progress,
    Succeeded,
)
from fpga_common.domain.card import RegionState
from fpga_common.domain.operation import Failure, FailureCode, Phase, operation_id
from fpga_common.wire.agent.v1 import agent_pb2 as pb

_PHASES: Final = {
    pb.PHASE_ACCEPTED: Phase.ACCEPTED,
    pb.PHASE_FETCHING: Phase.FETCHING,
    pb.PHASE_CHECKING: Phase.CHECKING,
    pb.PHASE_DRAINING: Phase.DRAINING,
    pb.PHASE_PROGRAMMING: Phase.PROGRAMMING,
    pb.PHASE_VERIFYING: Phase.VERIFYING,
}
_USABLE: Final = frozenset({RegionState.READY.value})


def program_request(assignment: Assignment) -> pb.ProgramRequest:
    """An attempt as the agent takes it."""
    attempt, bitstream = assignment.attempt, assignment.bitstream
    return pb.ProgramRequest(
        node=assignment.node,
        operation_id=operation_id(attempt.load_id, attempt.number),
        load_id=attempt.load_id,
        attempt=attempt.number,
        region_id=assignment.device,
        bitstream=pb.Bitstream(
            digest=bitstream.digest,
            size_bytes=bitstream.size_bytes,
            format=bitstream.format,
            interface_id=bitstream.interface_id or "",
            afu_id=bitstream.afu_id or "",
            name=bitstream.name,
        ),
        force=assignment.force,
        requested_by=assignment.requested_by,
        deadline_unix_ms=int(assignment.deadline_at.timestamp() * 1000),
    )


def progress_of(event: pb.ProgramEvent) -> Progress | None:
    """An event on the way, None for ends and phases that we do not know."""
    phase = _PHASES.get(event.phase)
    return Progress(phase, event.percent, event.message) if phase else None


def end_of(event: pb.ProgramEvent) -> OperationEnd | None:
    """The end that an event is, None for one on the way."""
    if event.phase == pb.PHASE_DONE:
        return Succeeded(event.afu_id or None, event.message)
    if event.phase == pb.PHASE_FAILED:
        return Failed(_failure(event))
    return None


def _failure(event: pb.ProgramEvent) -> Failure:
    failure = event.failure
    message = failure.message or event.message or "the agent gave no reason"
    return Failure(
        known_code(failure.code), message, failure.expected or None, failure.actual or None
    )


def known_code(text: str) -> FailureCode:
    """A code's text as ours."""
    try:
        return FailureCode(text)
    except ValueError:
        return FailureCode.INTERNAL


def failure_of(details: str) -> Failure | None:
    """A refusal ``<code>: <words>`` in a status, None where it is none."""
    code, separator, words = details.partition(": ")
    if not separator or code not in set(FailureCode):
        return None
    return Failure(FailureCode(code), words)


def confirmed_afu(inventory_json: str, device: str) -> str | None:
    """The AFU that a usable region of an inventory document shows."""
    for card in json.loads(inventory_json or "{}").get("cards", []):
        for region in card.get("regions", []):
            if region.get("id") == device and region.get("state") in _USABLE:
                afu_id: str | None = region.get("afu_id")
                return afu_id
    return None
