"""Base classes of the wire models."""

from datetime import UTC, datetime
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from fpga_common.domain.ids import normalise_uuid, require_digest, require_node_name


def _require_utc(time: datetime) -> datetime:
    try:
        time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("a time that UTC does not have") from error
    return time


Uuid = Annotated[str, AfterValidator(normalise_uuid)]
Digest = Annotated[str, AfterValidator(require_digest)]
NodeName = Annotated[str, AfterValidator(require_node_name)]
DeviceId = Annotated[str, Field(min_length=1, max_length=253)]
Timestamp = Annotated[AwareDatetime, AfterValidator(_require_utc)]
#: Seconds since the epoch, to the end of the year 9999: what every reader can show.
EpochSeconds = Annotated[float, Field(ge=0, le=253_402_300_799)]

__all__ = [
    "Answer",
    "DeviceId",
    "Digest",
    "EpochSeconds",
    "NodeName",
    "Page",
    "Request",
    "Timestamp",
    "Uuid",
]


class Request(BaseModel):
    """A document that a client sends: unknown fields are errors. JSON has no infinity, no NaN."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Answer(BaseModel):
    """A document that a server sends: unknown fields are ignored by the reader."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


Item = TypeVar("Item")


class Page(Answer, Generic[Item]):
    """One page of a list; ``next_cursor`` is None on the last one."""

    items: list[Item]
    next_cursor: str | None = None
