"""Intel GBS ("green bitstream") files: header, metadata, payload.

Layout (OPAE ``libbitstream``): 16 bytes magic, u32 little-endian metadata length L, L bytes JSON,
then the raw partial bitstream that is written to the card. Only header and metadata are read,
whatever the file's size.
"""

import stat
from pathlib import Path
from typing import BinaryIO, Final

from fpga_common.bitstream.checks import check_payload
from fpga_common.bitstream.metadata import GbsMetadata, parse_metadata
from fpga_common.domain.bitstream import BitstreamFormat, BitstreamInfo, MalformedBitstream

MAGIC: Final = b"XeonFPGA\xb7GBSv001"
HEADER_BYTES: Final = 20
# Intel's device plugin takes less than 4 KiB; 64 KiB leaves room and bounds what is read.
MAX_METADATA_BYTES: Final = 64 * 1024

_OTHER_FORMATS: Final = {
    b"xclbin2\0": "an xclbin",
    b"\x7fELF": "an ELF file (an OpenCL .aocx is one)",
    b"\x19\xfd\xea\xb6": "a signed update (PACSign block 0)",
    b"\x80\x86\x1f\x1d": "a GBS in the format before 6.4",
}


def inspect_file(path: Path) -> BitstreamInfo:
    """Inspect the file at ``path``. Raises MalformedBitstream and OSError."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise MalformedBitstream(
            "file", 0, "not a file", expected="a regular file", actual=stat.filemode(mode)
        )
    with path.open("rb") as stream:
        return inspect(stream, path.stat().st_size)


def inspect(stream: BinaryIO, size: int) -> BitstreamInfo:
    """What a GBS of ``size`` bytes says of itself; reads at most 64 KiB of ``stream``.

    ``stream`` stands at the file's begin. The payload is not read: that ``size`` bytes are really
    there is for the caller to know. A file that can be parsed but must not be programmed has
    ``errors`` among its checks.

    Raises:
        MalformedBitstream: the file is cut, no GBS, or its metadata is broken.
    """
    length = _metadata_length(_read(stream, min(HEADER_BYTES, max(size, 0))))
    _require_room(length, size)
    data = _read(stream, length)
    if len(data) < length:
        raise _cut("metadata", HEADER_BYTES + len(data), HEADER_BYTES + length)
    metadata = parse_metadata(data, HEADER_BYTES)
    return _info(metadata, HEADER_BYTES + length, size)


def _metadata_length(header: bytes) -> int:
    magic = header[: len(MAGIC)]
    if not MAGIC.startswith(magic) or not magic:
        raise MalformedBitstream(
            "magic", 0, _what_it_is(header), expected=MAGIC.hex(), actual=magic.hex() or "no bytes"
        )
    if len(header) < HEADER_BYTES:
        raise _cut("header", len(header), HEADER_BYTES)
    return int.from_bytes(header[len(MAGIC) :], "little")


def _require_room(length: int, size: int) -> None:
    if not 0 < length <= MAX_METADATA_BYTES:
        raise MalformedBitstream(
            "metadata length",
            len(MAGIC),
            "not a length that metadata can have",
            expected=f"1 to {MAX_METADATA_BYTES} bytes",
            actual=f"{length} bytes",
        )
    room = size - HEADER_BYTES
    if length > room:
        raise MalformedBitstream(
            "metadata length",
            len(MAGIC),
            "the metadata would end after the file",
            expected=f"at most {room} bytes",
            actual=f"{length} bytes",
        )
    if length == room:
        raise MalformedBitstream(
            "payload",
            size,
            "the file ends with the metadata",
            expected="a partial bitstream",
            actual="0 bytes",
        )


def _info(metadata: GbsMetadata, payload_offset: int, size: int) -> BitstreamInfo:
    payload_size = size - payload_offset
    return BitstreamInfo(
        format=BitstreamFormat.GBS,
        size_bytes=size,
        payload_offset=payload_offset,
        payload_size=payload_size,
        interface_ids=(metadata.interface_id,),
        afu_ids=metadata.afu_ids,
        name=metadata.name,
        platform=metadata.platform,
        clocks_mhz=metadata.clocks_mhz,
        checks=(*metadata.checks, check_payload(payload_size)),
    )


def _what_it_is(header: bytes) -> str:
    for magic, name in _OTHER_FORMATS.items():
        if header.startswith(magic):
            return f"not a GBS but {name}"
    return "not a GBS"


def _cut(field_name: str, found: int, wanted: int) -> MalformedBitstream:
    return MalformedBitstream(
        field_name,
        found,
        "the file is cut off",
        expected=f"at least {wanted} bytes",
        actual=f"{found} bytes",
    )


def _read(stream: BinaryIO, count: int) -> bytes:
    """Up to ``count`` bytes; less only at the end, even where ``read`` gives parts."""
    parts: list[bytes] = []
    while count > 0:
        part = stream.read(count)
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
