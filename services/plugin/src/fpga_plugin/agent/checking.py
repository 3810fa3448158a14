"""What is checked on the node itself before anything is written. Called by ``agent.programming``.

Trusts neither the cache nor the manager: the bytes that are hashed and parsed are read through the
same open file that the programmer reads afterwards.
"""

import os
from collections.abc import Callable
from typing import BinaryIO, Final

from fpga_common.bitstream import digest_of
from fpga_common.domain.bitstream import BitstreamInfo, MalformedBitstream
from fpga_common.domain.card import Card, Region, RegionState
from fpga_common.domain.operation import FailureCode
from fpga_plugin.agent.events import WantedBitstream
from fpga_plugin.failures import operation_failed

Inspect = Callable[[BinaryIO, int], BitstreamInfo]
"""``fpga_common.bitstream.inspect``: takes a seekable stream and its size in bytes."""


def check_bitstream(
    stream: BinaryIO, wanted: WantedBitstream, region: Region, inspect: Inspect
) -> BitstreamInfo:
    """Check digest, format, length, interface id and AFU id.

    Raises OperationFailed: digest_mismatch, format_invalid, interface_mismatch.
    """
    size = os.fstat(stream.fileno()).st_size
    _require(FailureCode.DIGEST_MISMATCH, "digest", wanted.digest, digest_of(stream))
    stream.seek(0)
    info = _inspected(stream, size, inspect)
    if wanted.format:
        _require(FailureCode.FORMAT_INVALID, "format", wanted.format, info.format.value)
    _require_fit(info, region)
    if wanted.interface_id:
        _require_one(
            FailureCode.INTERFACE_MISMATCH, "interface id", wanted.interface_id, info.interface_ids
        )
    if wanted.afu_id:
        _require_one(FailureCode.FORMAT_INVALID, "AFU id", wanted.afu_id, info.afu_ids)
    return info


def require_programmable(
    found: tuple[Card, Region] | None, region_id: str, card_id: str
) -> tuple[Card, Region]:
    """Return what was found if its state allows a programming. Raises OperationFailed."""
    if found is None:
        raise operation_failed(
            FailureCode.CARD_MISSING, f"this node has no region {region_id} now", actual=card_id
        )
    region = found[1]
    refusal = _REFUSALS.get(region.state)
    if refusal is not None:
        raise operation_failed(
            refusal,
            f"{region_id} is {region.state}: {region.reason or 'no reason given'}",
            expected=RegionState.READY.value,
            actual=region.state.value,
        )
    return found


_REFUSALS: Final[dict[RegionState, FailureCode]] = {
    RegionState.STATIC: FailureCode.REGION_STATIC,
    RegionState.UNUSABLE: FailureCode.REGION_UNUSABLE,
    RegionState.MISSING: FailureCode.CARD_MISSING,
    RegionState.RESERVED: FailureCode.CORDONED,
}


def _inspected(stream: BinaryIO, size: int, inspect: Inspect) -> BitstreamInfo:
    try:
        info = inspect(stream, size)
    except MalformedBitstream as error:
        raise operation_failed(
            FailureCode.FORMAT_INVALID, error.message, expected=error.expected, actual=error.actual
        ) from error
    for check in info.errors:
        raise operation_failed(
            FailureCode.FORMAT_INVALID,
            f"{check.name}: {check.message}",
            expected=check.expected,
            actual=check.actual,
        )
    return info


def _require_fit(info: BitstreamInfo, region: Region) -> None:
    if region.interface_id is None:
        raise operation_failed(
            FailureCode.REGION_UNUSABLE,
            f"the interface id of {region.id} cannot be read, so nothing can be checked against it",
        )
    _require_one(
        FailureCode.INTERFACE_MISMATCH, "interface id", region.interface_id, info.interface_ids
    )


def _require_one(code: FailureCode, what: str, expected: str, actual: tuple[str, ...]) -> None:
    if expected not in actual:
        _require(code, what, expected, ", ".join(actual) or "none")


def _require(code: FailureCode, what: str, expected: str, actual: str) -> None:
    if expected != actual:
        raise operation_failed(
            code,
            f"the bitstream's {what} is {actual}, expected is {expected}",
            expected=expected,
            actual=actual,
        )
