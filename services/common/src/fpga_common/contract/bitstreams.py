"""Bitstreams of the REST API."""

from pydantic import Field

from fpga_common.contract.base import Answer, Timestamp
from fpga_common.domain.bitstream import BitstreamFormat, CheckOutcome


class CheckDocument(Answer):
    """What one check of the file found."""

    name: str
    outcome: CheckOutcome
    message: str
    expected: str | None = None
    actual: str | None = None


class Bitstream(Answer):
    """A stored bitstream. The digest is of the whole file and never changes; a name may move.

    ``references`` are the names, with and without version, that mean this content now.
    ``devices`` have its AFU now.
    """

    digest: str
    name: str
    version: str | None = None
    references: list[str] = Field(default_factory=list)
    format: BitstreamFormat
    size_bytes: int
    payload_size_bytes: int
    interface_id: str | None
    afu_id: str | None
    afu_name: str | None = None
    clocks_mhz: dict[str, str] = Field(default_factory=dict)
    checks: list[CheckDocument] = Field(default_factory=list)
    uploaded_by: str
    uploaded_at: Timestamp
    devices: int = 0
