"""The agent's calls as values and typed failures."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import grpc

from fpga_bitstream_manager.agents.messages import (
    confirmed_afu,
    end_of,
    failure_of,
    program_request,
    progress_of,
)
from fpga_bitstream_manager.loads.values import Assignment, OperationEnd, Progress
from fpga_common.domain.errors import Permanent, Temporary
from fpga_common.domain.operation import Failure, FailureCode, operation_id
from fpga_common.wire.agent.v1 import agent_pb2 as pb
from fpga_common.wire.agent.v1.agent_pb2_grpc import NodeAgentStub

ASK_SECONDS: Final = 3.0

_AWAY: Final = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.INTERNAL,
    }
)


class AgentUnreachable(Temporary):
    """The agent gave no answer; whether it carries something out is not known by that."""

    code = "node_unreachable"


class AgentRefused(Permanent):
    """The agent answered that it will not do this."""

    code = "agent_refused"

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message, expected=failure.expected, actual=failure.actual)
        self.failure = failure


class EventCall(Protocol):
    """A streaming call as gRPC gives it."""

    def __iter__(self) -> Iterator[pb.ProgramEvent]:
        """The events as they come."""

    def cancel(self) -> bool | None:
        """End the call."""


@dataclass(frozen=True, slots=True)
class OperationState:
    """An operation as the agent knows it."""

    progress: Progress | None
    end: OperationEnd | None


class AgentClient:
    """One connection to one agent."""

    def __init__(self, channel: grpc.Channel, node: str) -> None:
        self._stub = NodeAgentStub(channel)
        self._node = node

    def program(self, assignment: Assignment, *, timeout: float) -> "ProgramStream":
        """Start the attempt's operation or attach to it; ``timeout`` in seconds for all of it."""
        call = self._stub.Program(program_request(assignment), timeout=timeout)
        return ProgramStream(call, self._node)

    def operation(self, load_id: str, attempt: int) -> OperationState | None:
        """An operation, None where the agent has never accepted it. Raises AgentUnreachable."""
        request = pb.GetOperationRequest(
            node=self._node, operation_id=operation_id(load_id, attempt)
        )
        try:
            answer = self._stub.GetOperation(request, timeout=ASK_SECONDS)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                return None
            raise failed(error, self._node) from error
        event = answer.last_event
        return OperationState(progress_of(event), end_of(event))

    def cancel(self, load_id: str, attempt: int, requested_by: str) -> str:
        """Ask an operation to stop; returns what the agent says. Raises AgentUnreachable."""
        request = pb.CancelOperationRequest(
            node=self._node,
            operation_id=operation_id(load_id, attempt),
            requested_by=requested_by,
        )
        try:
            return self._stub.CancelOperation(request, timeout=ASK_SECONDS).message
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                return "the node does not know the operation"
            raise failed(error, self._node) from error

    def shows_afu(self, device: str, afu_id: str) -> bool:
        """Whether the node itself sees ``afu_id`` in a usable region now.

        Raises AgentUnreachable.
        """
        request = pb.GetInventoryRequest(node=self._node)
        try:
            answer = self._stub.GetInventory(request, timeout=ASK_SECONDS)
        except grpc.RpcError as error:
            raise failed(error, self._node) from error
        return confirmed_afu(answer.inventory_json, device) == afu_id


class ProgramStream:
    """The events of one operation. ``cancel`` from another thread ends the iteration; the
    operation itself goes on.
    """

    def __init__(self, call: EventCall, node: str) -> None:
        self._call = call
        self._node = node

    def __iter__(self) -> Iterator[Progress | OperationEnd]:
        """Progress, and the end as the last item.

        Raises:
            AgentRefused: the agent will not do this; nothing was begun.
            AgentUnreachable: the stream broke; the operation may go on.
        """
        try:
            for event in self._call:
                end = end_of(event)
                progress = progress_of(event)
                if end is not None:
                    yield end
                    return
                if progress is not None:
                    yield progress
        except grpc.RpcError as error:
            raise failed(error, self._node) from error
        raise AgentUnreachable(f"the agent of {self._node} closed the stream before the end")

    def cancel(self) -> None:
        """Stop listening."""
        self._call.cancel()


def failed(error: grpc.RpcError, node: str) -> AgentUnreachable | AgentRefused:
    """A gRPC failure as ours."""
    status, details = error.code(), error.details() or ""
    if status in _AWAY:
        return AgentUnreachable(f"the agent of {node}: {status.name.lower()}: {details}")
    return AgentRefused(failure_of(details) or Failure(FailureCode.INTERNAL, details))
