"""The NodeAgent service: parses a message, calls one thing, renders. Run by ``agent.server``."""

import json
import time
from collections.abc import Iterator
from typing import Any, Final, NoReturn, Protocol

import grpc

from fpga_common.domain.documents import inventory_document
from fpga_common.domain.errors import FpgaError
from fpga_common.domain.operation import FailureCode, Phase
from fpga_common.observability.logging import get_logger
from fpga_common.wire.agent.v1 import agent_pb2 as pb
from fpga_common.wire.agent.v1 import agent_pb2_grpc
from fpga_plugin.agent.cordoning import Cordoning, UnknownDevice, Wish
from fpga_plugin.agent.events import InvalidRequest, OperationEvent
from fpga_plugin.agent.journal import StoredOperation
from fpga_plugin.agent.messages import event_message, operation_message, request_of
from fpga_plugin.agent.operation import Operation
from fpga_plugin.agent.operations import Operations
from fpga_plugin.agent.ports import Inventory
from fpga_plugin.agent.telemetry import Telemetry
from fpga_plugin.failures import OperationFailed

log = get_logger(__name__)

_WISHES: Final[dict[int, Wish]] = {
    pb.RESERVATION_CORDON: Wish.CORDON,
    pb.RESERVATION_UNCORDON: Wish.UNCORDON,
    pb.RESERVATION_CLEAR_QUARANTINE: Wish.CLEAR_QUARANTINE,
}


class Addressed(Protocol):
    """Every request names the node it is for."""

    @property
    def node(self) -> str:
        """The node's name."""
        ...


class NodeAgent(agent_pb2_grpc.NodeAgentServicer):
    """What the manager may ask of this node."""

    def __init__(
        self,
        node: str,
        inventory: Inventory,
        operations: Operations,
        cordoning: Cordoning,
        telemetry: Telemetry,
    ) -> None:
        self._node = node
        self._inventory = inventory
        self._operations = operations
        self._cordoning = cordoning
        self._telemetry = telemetry

    def GetInventory(  # noqa: N802
        self, request: pb.GetInventoryRequest, context: Any
    ) -> pb.GetInventoryResponse:
        """The inventory document."""
        self._require_node(request, context)
        document = inventory_document(self._inventory.snapshot().cards)
        return pb.GetInventoryResponse(inventory_json=json.dumps(document))

    def GetTelemetry(  # noqa: N802
        self, request: pb.GetTelemetryRequest, context: Any
    ) -> pb.GetTelemetryResponse:
        """Samples of the ring buffer."""
        self._require_node(request, context)
        samples = self._telemetry.samples(request.card_id, request.since_unix_ms)
        return pb.GetTelemetryResponse(
            samples=[
                pb.TelemetrySample(
                    unix_ms=sample.unix_ms,
                    card_id=sample.card_id,
                    sensor=sample.sensor,
                    value=sample.value,
                )
                for sample in samples
            ]
        )

    def Program(  # noqa: N802
        self, request: pb.ProgramRequest, context: Any
    ) -> Iterator[pb.ProgramEvent]:
        """Start an operation or attach to it, and stream its events to its end."""
        self._require_node(request, context)
        try:
            operation = self._operations.program(request_of(request))
        except OperationFailed as refused:
            return iter((_refusal(request.operation_id, refused),))
        except InvalidRequest as error:
            _abort(context, grpc.StatusCode.INVALID_ARGUMENT, error)
        return (event_message(request.operation_id, event) for event in _events(operation, context))

    def GetOperation(  # noqa: N802
        self, request: pb.GetOperationRequest, context: Any
    ) -> pb.Operation:
        """A running or ended operation."""
        self._require_node(request, context)
        operation = self._find(request.operation_id, context)
        return operation_message(operation)

    def CancelOperation(  # noqa: N802
        self, request: pb.CancelOperationRequest, context: Any
    ) -> pb.CancelOperationResponse:
        """Stop an operation that has not begun to write."""
        self._require_node(request, context)
        self._find(request.operation_id, context)
        answer = self._operations.cancel(request.operation_id, request.requested_by)
        if answer is None:
            _abort_unknown(context, request.operation_id)
        return pb.CancelOperationResponse(accepted=answer.accepted, message=answer.message)

    def SetReserved(  # noqa: N802
        self, request: pb.SetReservedRequest, context: Any
    ) -> pb.SetReservedResponse:
        """Cordon or uncordon a device or clear its quarantine."""
        self._require_node(request, context)
        wish = _WISHES.get(request.reservation)
        if wish is None:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "reservation: not given")
            raise AssertionError
        try:
            region_ids = self._cordoning.set_reserved(
                request.device_id, wish, request.reason, request.requested_by
            )
        except UnknownDevice as error:
            _abort(context, grpc.StatusCode.NOT_FOUND, error)
        except OSError as error:
            log.exception("reservation_not_stored", device=request.device_id)
            context.abort(
                grpc.StatusCode.RESOURCE_EXHAUSTED, f"the node cannot store it: {error.strerror}"
            )
            raise
        return pb.SetReservedResponse(region_ids=region_ids)

    def _find(self, operation_id: str, context: Any) -> Operation | StoredOperation:
        try:
            operation = self._operations.find(operation_id)
        except InvalidRequest as error:
            _abort(context, grpc.StatusCode.INVALID_ARGUMENT, error)
        if operation is None:
            _abort_unknown(context, operation_id)
        return operation

    def _require_node(self, request: Addressed, context: Any) -> None:
        if request.node != self._node:
            context.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                f"{FailureCode.WRONG_NODE}: this is node {self._node}, not {request.node or '?'}",
            )


def _events(operation: Operation | StoredOperation, context: Any) -> Iterator[OperationEvent]:
    if isinstance(operation, StoredOperation):
        return iter(operation.events)
    context.add_callback(operation.wake)
    return operation.follow(context.is_active)


def _refusal(operation_id: str, refused: OperationFailed) -> pb.ProgramEvent:
    failure = refused.failure
    event = OperationEvent(1, Phase.FAILED, 0.0, failure.message, _now_ms(), failure)
    return event_message(operation_id, event)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _abort(context: Any, status: grpc.StatusCode, error: FpgaError) -> NoReturn:
    context.abort(status, f"{error.code}: {error.message}")
    raise AssertionError("abort raises")


def _abort_unknown(context: Any, operation_id: str) -> NoReturn:
    context.abort(grpc.StatusCode.NOT_FOUND, f"no operation {operation_id}")
    raise AssertionError("abort raises")
