"""Requests and events of operations as values, and as the JSON that the journal keeps."""

import re
from dataclasses import asdict, dataclass
from typing import Any, Final

from fpga_common.domain.errors import Permanent
from fpga_common.domain.ids import card_of_region
from fpga_common.domain.operation import Failure, FailureCode, Phase

Document = dict[str, Any]

_OPERATION_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class InvalidRequest(Permanent):
    """A request that no node could carry out; ``message`` names the field."""

    code = "invalid_request"


@dataclass(frozen=True, slots=True)
class WantedBitstream:
    """The bitstream a request names; everything in it is checked against the file on the node."""

    digest: str
    size_bytes: int
    format: str
    interface_id: str
    afu_id: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class OperationRequest:
    """One attempt to put one bitstream into one region.

    ``deadline`` is in seconds since the epoch, None for none; ``force`` programs although a pod
    holds the region.
    """

    operation_id: str
    load_id: str
    attempt: int
    region_id: str
    bitstream: WantedBitstream
    force: bool = False
    requested_by: str = ""
    deadline: float | None = None

    @property
    def card_id(self) -> str:
        """The card of the region. Raises InvalidId."""
        return card_of_region(self.region_id)


@dataclass(frozen=True, slots=True)
class OperationEvent:
    """One step of an operation; ``percent`` is 0 to 100 of the whole and never falls."""

    sequence: int
    phase: Phase
    percent: float
    message: str
    unix_ms: int
    failure: Failure | None = None
    afu_id: str | None = None


_REQUEST_TYPES: Final[dict[str, type]] = {
    "operation_id": str,
    "load_id": str,
    "attempt": int,
    "region_id": str,
}
_BITSTREAM_TYPES: Final[dict[str, type]] = {"digest": str, "size_bytes": int}
_EVENT_TYPES: Final[dict[str, type]] = {
    "sequence": int,
    "phase": str,
    "percent": float,
    "message": str,
    "unix_ms": int,
}


def require_operation_id(text: str) -> str:
    """Return ``text`` if it may name an operation, and so a file. Raises InvalidRequest."""
    if not _OPERATION_ID.fullmatch(text):
        raise InvalidRequest(
            f"operation_id: {text!r} cannot name an operation",
            expected="1 to 128 letters, digits, dots, dashes or underscores",
            actual=text,
        )
    return text


def request_document(request: OperationRequest) -> Document:
    """A request as the journal keeps it."""
    return asdict(request)


def request_from(document: Document) -> OperationRequest:
    """The request of a document. Raises KeyError or TypeError where it is none."""
    bitstream = WantedBitstream(**document["bitstream"])
    _require_types(document, _REQUEST_TYPES)
    _require_types(document["bitstream"], _BITSTREAM_TYPES)
    return OperationRequest(**{**document, "bitstream": bitstream})


def event_document(event: OperationEvent) -> Document:
    """An event as the journal keeps it."""
    return asdict(event)


def event_from(document: Document) -> OperationEvent:
    """The event of a document. Raises KeyError, TypeError or ValueError where it is none."""
    _require_types(document, _EVENT_TYPES)
    failure = document["failure"]
    return OperationEvent(
        **{
            **document,
            "phase": Phase(document["phase"]),
            "failure": failure and Failure(**{**failure, "code": FailureCode(failure["code"])}),
        }
    )


def _require_types(document: Document, types: dict[str, type]) -> None:
    for name, wanted in types.items():
        if not isinstance(document[name], wanted):
            raise TypeError(f"{name}: found {document[name]!r}")
