"""Between the agent's values and its gRPC messages. Used by ``agent.servicer`` alone."""

from typing import Final

from fpga_common.domain.operation import Failure, Phase
from fpga_common.wire.agent.v1 import agent_pb2 as pb
from fpga_plugin.agent.events import OperationEvent, OperationRequest, WantedBitstream
from fpga_plugin.agent.journal import StoredOperation
from fpga_plugin.agent.operation import Operation

PHASES: Final[dict[Phase, pb.Phase.ValueType]] = {
    Phase.ACCEPTED: pb.PHASE_ACCEPTED,
    Phase.FETCHING: pb.PHASE_FETCHING,
    Phase.CHECKING: pb.PHASE_CHECKING,
    Phase.DRAINING: pb.PHASE_DRAINING,
    Phase.PROGRAMMING: pb.PHASE_PROGRAMMING,
    Phase.VERIFYING: pb.PHASE_VERIFYING,
    Phase.DONE: pb.PHASE_DONE,
    Phase.FAILED: pb.PHASE_FAILED,
}


def request_of(message: pb.ProgramRequest) -> OperationRequest:
    """The operation that a ``Program`` asks for."""
    bitstream = message.bitstream
    return OperationRequest(
        operation_id=message.operation_id,
        load_id=message.load_id,
        attempt=message.attempt,
        region_id=message.region_id,
        bitstream=WantedBitstream(
            digest=bitstream.digest,
            size_bytes=bitstream.size_bytes,
            format=bitstream.format,
            interface_id=bitstream.interface_id,
            afu_id=bitstream.afu_id,
            name=bitstream.name,
        ),
        force=message.force,
        requested_by=message.requested_by,
        deadline=message.deadline_unix_ms / 1000 if message.deadline_unix_ms else None,
    )


def event_message(operation_id: str, event: OperationEvent) -> pb.ProgramEvent:
    """One event of an operation."""
    return pb.ProgramEvent(
        operation_id=operation_id,
        sequence=event.sequence,
        phase=PHASES[event.phase],
        percent=event.percent,
        message=event.message,
        unix_ms=event.unix_ms,
        failure=failure_message(event.failure) if event.failure else None,
        afu_id=event.afu_id or "",
    )


def failure_message(failure: Failure) -> pb.Failure:
    """Why an operation failed."""
    return pb.Failure(
        code=failure.code.value,
        retryable=failure.retryable,
        message=failure.message,
        expected=failure.expected or "",
        actual=failure.actual or "",
    )


def operation_message(operation: Operation | StoredOperation) -> pb.Operation:
    """An operation with its newest event."""
    request, last = operation.request, operation.last
    return pb.Operation(
        operation_id=request.operation_id,
        load_id=request.load_id,
        attempt=request.attempt,
        region_id=request.region_id,
        last_event=event_message(request.operation_id, last),
        ended=last.phase.ended,
    )
