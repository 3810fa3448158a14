"""A local file's contents as JSON values and as lines, without I/O."""

from typing import Any

from fpga_common.domain.bitstream import BitstreamInfo, Check, CheckOutcome
from fpgactl.rows import NONE, Fields, size_text


def inspection_document(info: BitstreamInfo, digest: str) -> dict[str, Any]:
    """What ``inspect -o json`` prints; sizes and offsets in bytes, clocks in MHz."""
    return {
        "digest": digest,
        "format": info.format.value,
        "size_bytes": info.size_bytes,
        "payload_offset": info.payload_offset,
        "payload_size_bytes": info.payload_size,
        "interface_id": info.interface_id,
        "interface_ids": list(info.interface_ids),
        "afu_id": info.afu_id,
        "afu_ids": list(info.afu_ids),
        "afu_name": info.name,
        "platform": info.platform,
        "clocks_mhz": dict(info.clocks_mhz),
        "accepted": not info.errors,
        "checks": [_check_document(check) for check in info.checks],
    }


def inspection_fields(info: BitstreamInfo, digest: str) -> Fields:
    """What ``inspect`` prints for people."""
    clocks = ", ".join(f"{name} {value} MHz" for name, value in info.clocks_mhz.items())
    return [
        ("format", info.format.value),
        ("size", f"{info.size_bytes} bytes"),
        ("payload", f"{size_text(info.payload_size)} at offset {info.payload_offset}"),
        ("digest", digest),
        ("interface", ", ".join(info.interface_ids) or NONE),
        ("AFU", ", ".join(info.afu_ids) or NONE),
        ("name", info.name or NONE),
        ("platform", info.platform or NONE),
        ("clocks", clocks or NONE),
    ]


def warnings(info: BitstreamInfo) -> list[str]:
    """A line for each check that is not ok; an error says that an upload is refused."""
    return [_warning(check) for check in info.checks if check.outcome is not CheckOutcome.OK]


def _warning(check: Check) -> str:
    found = f"expected {check.expected or NONE}, actual {check.actual or NONE}"
    refused = "; an upload is refused" if check.outcome is CheckOutcome.ERROR else ""
    return f"warning: {check.name}: {check.message} ({found}){refused}"


def _check_document(check: Check) -> dict[str, str | None]:
    return {
        "name": check.name,
        "outcome": check.outcome.value,
        "message": check.message,
        "expected": check.expected,
        "actual": check.actual,
    }
