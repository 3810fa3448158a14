"""``/bitstreams``: list, upload, look up, delete."""

import base64
from typing import Any, BinaryIO, Final, cast

from apiflask import APIBlueprint
from flask import request
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from werkzeug.exceptions import UnsupportedMediaType

from fpga_bitstream_manager.api.context import principal, services
from fpga_bitstream_manager.api.guard import requires
from fpga_bitstream_manager.api.pagination import PageQuery
from fpga_bitstream_manager.bitstreams import catalogue
from fpga_bitstream_manager.bitstreams.names import label
from fpga_bitstream_manager.bitstreams.store import BitstreamTooLarge
from fpga_bitstream_manager.bitstreams.upload import CONTENT_DIGEST, Uploader
from fpga_bitstream_manager.failures import BadRequest
from fpga_common.contract.access import Role
from fpga_common.contract.base import Page, Timestamp, Uuid
from fpga_common.contract.bitstreams import Bitstream

blueprint = APIBlueprint("bitstreams", __name__, tag="Bitstreams", url_prefix="/api/v1")

OCTETS = "application/octet-stream"

BITSTREAM_KEY: Final = TypeAdapter(tuple[Timestamp, str])

UPLOAD_RESPONSES: dict[int | str, dict[str, str | dict[str, dict[str, Any]]]] = {
    200: {
        "description": "This content was stored already",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Bitstream"}}},
    },
    413: {"description": "Larger than bitstreams.max_bytes"},
    415: {"description": "Not application/octet-stream"},
    507: {"description": "The store is full"},
}

UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {OCTETS: {"schema": {"type": "string", "format": "binary"}}},
    }
}


class InvalidContentDigest(BadRequest):
    """``Content-Digest`` must have the form ``sha-256=:<base64 of 32 bytes>:`` (RFC 9530)."""

    code = "invalid_content_digest"


class BitstreamsQuery(PageQuery):
    """Filters of bitstreams."""

    name: str | None = None
    interface_id: Uuid | None = None
    afu_id: Uuid | None = None

    def filter(self) -> catalogue.BitstreamFilter:
        """The filter without paging."""
        return catalogue.BitstreamFilter(**self.model_dump(exclude={"limit", "cursor"}))


class UploadQuery(BaseModel):
    """What an uploaded file is called."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="Letters, digits, dots, dashes and underscores.")
    version: str | None = Field(default=None, description="A version never changes its file.")


@blueprint.get("/bitstreams")
@requires(Role.VIEWER)
@blueprint.input(BitstreamsQuery, location="query")
@blueprint.output(Page[Bitstream])
def list_bitstreams(query_data: BitstreamsQuery) -> Page[Bitstream]:
    """Stored bitstreams, newest first."""
    with services().ledger.reading() as session:
        found = catalogue.list_bitstreams(
            session,
            query_data.filter(),
            after=query_data.after(BITSTREAM_KEY),
            limit=query_data.limit + 1,
        )
    return query_data.page(found, lambda item: [item.uploaded_at.isoformat(), item.digest])


@blueprint.post("/bitstreams")
@requires(Role.OPERATOR)
@blueprint.input(UploadQuery, location="query")
@blueprint.output(Bitstream, status_code=201)
@blueprint.doc(responses=UPLOAD_RESPONSES, extensions=UPLOAD_BODY)
def upload_bitstream(query_data: UploadQuery) -> tuple[Bitstream, int]:
    """Upload a file: the body is the file itself.

    It is parsed and checked before it is stored; a refusal names each wrong field.
    """
    own = services()
    uploader = Uploader(own.ledger, own.blobs, own.clock, own.settings.bitstreams.max_bytes)
    uploaded = uploader.upload(
        _body(uploader.max_bytes),
        label(query_data.name, query_data.version),
        by=principal().actor,
        announced_digest=announced_digest(request.headers.get(CONTENT_DIGEST)),
    )
    return uploaded.bitstream, 201 if uploaded.created else 200


@blueprint.get("/bitstreams/<reference>")
@requires(Role.VIEWER)
@blueprint.output(Bitstream)
def get_bitstream(reference: str) -> Bitstream:
    """One bitstream by digest, name or name@version."""
    with services().ledger.reading() as session:
        return catalogue.find(session, reference)


@blueprint.delete("/bitstreams/<reference>")
@requires(Role.OPERATOR)
@blueprint.output({}, status_code=204)
@blueprint.doc(responses={409: "A load or a desired AFU needs it"})
def delete_bitstream(reference: str) -> str:
    """Delete a bitstream that nothing needs, with its names; only a digest says which one."""
    own = services()
    catalogue.delete(own.ledger, own.blobs, own.clock, reference)
    return ""


def announced_digest(header: str | None) -> str | None:
    """The SHA-256 that a Content-Digest header announces, as ``sha256:…``.

    Other algorithms are passed over, as RFC 9530 wants. Raises InvalidContentDigest.
    """
    for member in (header or "").split(","):
        algorithm, _, value = member.strip().partition("=")
        if algorithm.lower() == "sha-256":
            return "sha256:" + _digest_bytes(value).hex()
    return None


def _digest_bytes(value: str) -> bytes:
    try:
        digest = base64.b64decode(value.strip(":"), validate=True)
    except ValueError as error:  # not ASCII, or not base64
        raise InvalidContentDigest("not base64", actual=value) from error
    if len(digest) != 32 or not (value.startswith(":") and value.endswith(":")):
        raise InvalidContentDigest("not a SHA-256", actual=value)
    return digest


def _body(max_bytes: int) -> BinaryIO:
    if request.mimetype != OCTETS:
        raise UnsupportedMediaType(f"send the file as {OCTETS}")
    length = request.content_length
    if length is not None and length > max_bytes:
        raise BitstreamTooLarge(
            "the file is larger than allowed",
            expected=f"at most {max_bytes} bytes",
            actual=f"{length} bytes",
        )
    request.max_content_length = max_bytes + 1  # the store counts, and says it better
    return cast("BinaryIO", request.stream)
