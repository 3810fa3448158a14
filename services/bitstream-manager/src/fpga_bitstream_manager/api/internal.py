"""``/internal/v1``: what node plugins call, with their own tokens. Not part of the public API."""

from apiflask import APIBlueprint
from flask import Response, request
from pydantic import ValidationError

from fpga_bitstream_manager.api.context import services
from fpga_bitstream_manager.api.guard import WrongNode, for_nodes
from fpga_bitstream_manager.bitstreams.catalogue import find_row
from fpga_bitstream_manager.bitstreams.store import CHUNK_BYTES
from fpga_bitstream_manager.failures import Finding, Invalid
from fpga_bitstream_manager.nodes.ingestion import Ingestion
from fpga_common.contract.report import NodeHeartbeat, NodeReport

blueprint = APIBlueprint("internal", __name__, url_prefix="/internal/v1", enable_openapi=False)

HEARTBEAT_FIELDS = frozenset(NodeHeartbeat.model_fields)


class InvalidReport(Invalid):
    """A node's report is not what this manager understands: the versions of both may differ."""

    code = "invalid_report"


@blueprint.put("/nodes/<node>/report")
@for_nodes()
def put_report(node: str) -> Response:
    """Take in a report or a heartbeat."""
    own = services()
    ingestion = Ingestion(own.ledger, own.heartbeats, own.clock, own.loads.node_changed)
    sent = parse_report(request.get_data())
    if sent.node != node:
        raise WrongNode(f"a report of {sent.node} for {node}", expected=node, actual=sent.node)
    answer = ingestion.report(sent) if isinstance(sent, NodeReport) else ingestion.heartbeat(sent)
    return Response(answer.model_dump_json(), mimetype="application/json")


@blueprint.get("/bitstreams/<digest>")
@for_nodes(admin_too=True)
def get_bytes(digest: str) -> Response:
    """The bytes of a bitstream, streamed."""
    own = services()
    with own.ledger.reading() as session:
        row = find_row(session, digest)
        size, found = row.size_bytes, row.digest
    stream = own.blobs.open(found)
    response = Response(
        iter(lambda: stream.read(CHUNK_BYTES), b""), mimetype="application/octet-stream"
    )
    response.content_length = size
    response.call_on_close(stream.close)
    return response


def parse_report(body: bytes) -> NodeReport | NodeHeartbeat:
    """A heartbeat is what has a heartbeat's fields and no other. Raises InvalidReport."""
    try:
        report = NodeReport.model_validate_json(body)
        if report.model_fields_set <= HEARTBEAT_FIELDS:
            return NodeHeartbeat.model_validate_json(body)
    except ValidationError as error:
        raise InvalidReport("the report is wrong", findings=_findings(error)) from error
    return report


def _findings(error: ValidationError) -> list[Finding]:
    return [
        Finding(mistake["msg"], pointer="/" + "/".join(str(part) for part in mistake["loc"]))
        for mistake in error.errors(include_url=False)[:20]
    ]
