"""A node agent that misbehaves on request: a real gRPC server with mutual TLS, no hardware."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from fpga_common.domain.operation import Failure, FailureCode
from fpga_common.wire.agent.v1 import agent_pb2 as pb
from fpga_common.wire.agent.v1 import agent_pb2_grpc

_ON_THE_WAY = (
    (pb.PHASE_ACCEPTED, 0.0),
    (pb.PHASE_FETCHING, 10.0),
    (pb.PHASE_CHECKING, 20.0),
    (pb.PHASE_DRAINING, 30.0),
)


def self_signed(name: str) -> tuple[bytes, bytes]:
    """A key and a certificate as a node makes them: PEM of both."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    key_pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return key_pem, certificate.public_bytes(serialization.Encoding.PEM)


@dataclass
class DoubleOperation:
    """One operation and what it said so far."""

    request: pb.ProgramRequest
    events: list[pb.ProgramEvent] = field(default_factory=list)
    cancelled: bool = False

    @property
    def ended(self) -> bool:
        """Whether nothing can follow."""
        return bool(self.events) and self.events[-1].phase in (pb.PHASE_DONE, pb.PHASE_FAILED)


class NodeAgentDouble(agent_pb2_grpc.NodeAgentServicer):
    """Runs operations in threads of its own, idempotent by id, one at a time a card.

    ``gate`` holds every operation before it writes, ``write_gate`` inside the write. ``failures``
    are taken by the next operations, before the write. ``forget`` makes it deny every operation it
    ever accepted, ``cut_streams`` ends every open stream without an end.
    """

    def __init__(self, node: str, credentials: Path) -> None:
        self.node = node
        key, certificate = self_signed(node)
        self.certificate = certificate.decode()
        self._key = key
        self._credentials = credentials
        self.gate = threading.Event()
        self.gate.set()
        self.write_gate = threading.Event()
        self.write_gate.set()
        self.failures: list[Failure] = []
        self.operations: dict[str, DoubleOperation] = {}
        self.afu_ids: dict[str, str] = {}
        self.attached: list[str] = []
        self.cancels: list[str] = []
        self.deny_operations = False
        self._cut = 0
        self._changed = threading.Condition()
        self._server: grpc.Server | None = None
        self.port = 0

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"127.0.0.1:{self.port}"

    @property
    def executed(self) -> list[str]:
        """The ids of everything that was begun, oldest first."""
        return list(self.operations)

    def start(self) -> "NodeAgentDouble":
        """Serve; again on the same port after ``stop``."""
        server = grpc.server(
            ThreadPoolExecutor(32, thread_name_prefix="double"),
            options=(("grpc.so_reuseport", 0),),
        )
        agent_pb2_grpc.add_NodeAgentServicer_to_server(self, server)
        credentials = grpc.ssl_server_credentials(
            [(self._key, self.certificate.encode())],
            (self._credentials / "ca.crt").read_bytes(),
            require_client_auth=True,
        )
        self.port = server.add_secure_port(f"127.0.0.1:{self.port}", credentials)
        server.start()
        self._server = server
        return self

    def stop(self) -> None:
        """Answer no more; operations go on."""
        if self._server is not None:
            self._server.stop(0).wait(10)
            self._server = None

    def cut_streams(self) -> None:
        """End every open stream; operations go on."""
        with self._changed:
            self._cut += 1
            self._changed.notify_all()

    def Program(self, request: pb.ProgramRequest, context: Any) -> Iterator[pb.ProgramEvent]:  # noqa: N802
        """Start or attach."""
        self._require_node(request.node, context)
        with self._changed:
            self.attached.append(request.operation_id)
            operation = self.operations.get(request.operation_id)
            busy = operation is None and any(
                not other.ended and other.request.region_id == request.region_id
                for other in self.operations.values()
            )
            if operation is None and not busy:
                operation = DoubleOperation(request)
                self.operations[request.operation_id] = operation
                threading.Thread(
                    target=self._run, args=(operation,), name="double-operation", daemon=True
                ).start()
            cut = self._cut
        if operation is None:
            yield self._event(request.operation_id, 1, Failure(FailureCode.CARD_BUSY, "busy"))
            return
        yield from self._follow(operation, context, cut)

    def _follow(
        self, operation: DoubleOperation, context: Any, cut: int
    ) -> Iterator[pb.ProgramEvent]:
        position = 0
        while context.is_active():
            with self._changed:
                if len(operation.events) == position and self._cut == cut:
                    self._changed.wait(0.2)
                fresh = operation.events[position:]
                was_cut = self._cut != cut
            if was_cut:
                context.abort(grpc.StatusCode.UNAVAILABLE, "cut")
            position += len(fresh)
            yield from fresh
            if fresh and operation.ended and position == len(operation.events):
                return

    def GetOperation(self, request: pb.GetOperationRequest, context: Any) -> pb.Operation:  # noqa: N802
        """A known operation."""
        self._require_node(request.node, context)
        operation = self.operations.get(request.operation_id)
        if operation is None or self.deny_operations or not operation.events:
            context.abort(grpc.StatusCode.NOT_FOUND, "unknown operation")
            raise AssertionError
        return pb.Operation(
            operation_id=request.operation_id,
            last_event=operation.events[-1],
            ended=operation.ended,
        )

    def CancelOperation(  # noqa: N802
        self, request: pb.CancelOperationRequest, context: Any
    ) -> pb.CancelOperationResponse:
        """Stops what has not begun to write."""
        self._require_node(request.node, context)
        self.cancels.append(request.operation_id)
        operation = self.operations.get(request.operation_id)
        if operation is None:
            context.abort(grpc.StatusCode.NOT_FOUND, "unknown operation")
            raise AssertionError
        operation.cancelled = True
        return pb.CancelOperationResponse(accepted=True, message="cancelling")

    def GetInventory(  # noqa: N802
        self, request: pb.GetInventoryRequest, context: Any
    ) -> pb.GetInventoryResponse:
        """Regions with the AFU that was last written."""
        self._require_node(request.node, context)
        regions = [
            {"id": device, "afu_id": afu, "state": "ready"} for device, afu in self.afu_ids.items()
        ]
        return pb.GetInventoryResponse(inventory_json=json.dumps({"cards": [{"regions": regions}]}))

    def GetTelemetry(  # noqa: N802
        self, request: pb.GetTelemetryRequest, context: Any
    ) -> pb.GetTelemetryResponse:
        """Nothing measured."""
        return pb.GetTelemetryResponse()

    def SetReserved(  # noqa: N802
        self, request: pb.SetReservedRequest, context: Any
    ) -> pb.SetReservedResponse:
        """Nothing reserved."""
        return pb.SetReservedResponse()

    def _run(self, operation: DoubleOperation) -> None:
        for phase, percent in _ON_THE_WAY:
            self._say(operation, phase, percent)
        while not self.gate.wait(0.02) and not operation.cancelled:
            pass
        failure = self._failure_of(operation)
        if failure is None:
            self._say(operation, pb.PHASE_PROGRAMMING, 50.0)
            self.write_gate.wait(60)
            self._say(operation, pb.PHASE_VERIFYING, 90.0)
            self.afu_ids[operation.request.region_id] = operation.request.bitstream.afu_id
            self._say(operation, pb.PHASE_DONE, 100.0, afu_id=operation.request.bitstream.afu_id)
        else:
            self._end(operation, failure)

    def _failure_of(self, operation: DoubleOperation) -> Failure | None:
        if operation.cancelled:
            return Failure(FailureCode.CANCELLED, "cancelled")
        with self._changed:
            return self.failures.pop(0) if self.failures else None

    def _end(self, operation: DoubleOperation, failure: Failure) -> None:
        with self._changed:
            number = len(operation.events) + 1
            operation.events.append(self._event(operation.request.operation_id, number, failure))
            self._changed.notify_all()

    def _say(
        self,
        operation: DoubleOperation,
        phase: "pb.Phase.ValueType",
        percent: float,
        afu_id: str = "",
    ) -> None:
        with self._changed:
            operation.events.append(
                pb.ProgramEvent(
                    operation_id=operation.request.operation_id,
                    sequence=len(operation.events) + 1,
                    phase=phase,
                    percent=percent,
                    message=pb.Phase.Name(phase),
                    unix_ms=time.time_ns() // 1_000_000,
                    afu_id=afu_id,
                )
            )
            self._changed.notify_all()

    def _event(self, operation_id: str, sequence: int, failure: Failure) -> pb.ProgramEvent:
        return pb.ProgramEvent(
            operation_id=operation_id,
            sequence=sequence,
            phase=pb.PHASE_FAILED,
            message=failure.message,
            failure=pb.Failure(
                code=failure.code.value,
                retryable=failure.retryable,
                message=failure.message,
                expected=failure.expected or "",
                actual=failure.actual or "",
            ),
        )

    def _require_node(self, node: str, context: Any) -> None:
        if node != self.node:
            context.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                f"wrong_node: this is node {self.node}, not {node}",
            )
