"""Rows of bitstreams as answers of the API, and parsed files as rows. Pure."""

from dataclasses import asdict
from datetime import datetime

from fpga_bitstream_manager.bitstreams.names import Label
from fpga_bitstream_manager.ledger import BitstreamRow
from fpga_common.contract.bitstreams import Bitstream, CheckDocument
from fpga_common.domain.bitstream import BitstreamFormat, BitstreamInfo

LONGEST_AFU_NAME = 255


def bitstream_row(
    digest: str, info: BitstreamInfo, label: Label, *, uploaded_by: str, uploaded_at: datetime
) -> BitstreamRow:
    """What is kept of a parsed file."""
    return BitstreamRow(
        digest=digest,
        name=label.name,
        version=label.version,
        format=info.format.value,
        size_bytes=info.size_bytes,
        payload_offset=info.payload_offset,
        payload_size_bytes=info.payload_size,
        interface_id=info.interface_id,
        afu_id=info.afu_id,
        afu_name=info.name[:LONGEST_AFU_NAME] if info.name else None,
        clocks_mhz=dict(info.clocks_mhz),
        checks=[asdict(check) for check in info.checks],
        uploaded_by=uploaded_by,
        uploaded_at=uploaded_at,
    )


def bitstream_document(row: BitstreamRow, *, devices: int, references: list[str]) -> Bitstream:
    """A row as the API shows it; ``devices`` have its AFU now."""
    return Bitstream(
        digest=row.digest,
        name=row.name,
        version=row.version,
        references=references,
        format=BitstreamFormat(row.format),
        size_bytes=row.size_bytes,
        payload_size_bytes=row.payload_size_bytes,
        interface_id=row.interface_id,
        afu_id=row.afu_id,
        afu_name=row.afu_name,
        clocks_mhz=row.clocks_mhz,
        checks=[CheckDocument.model_validate(check) for check in row.checks],
        uploaded_by=row.uploaded_by,
        uploaded_at=row.uploaded_at,
        devices=devices,
    )
