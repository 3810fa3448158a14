"""Base classes of the wire models."""

from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict

from fpga_common.domain.ids import normalise_uuid, require_digest, require_node_name

Uuid = Annotated[str, AfterValidator(normalise_uuid)]
Digest = Annotated[str, AfterValidator(require_digest)]
NodeName = Annotated[str, AfterValidator(require_node_name)]
Timestamp = AwareDatetime

__all__ = ["Answer", "Digest", "NodeName", "Page", "Request", "Timestamp", "Uuid"]


class Request(BaseModel):
    """A document that a client sends: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """A document that a server sends: unknown fields are ignored by the reader."""

    model_config = ConfigDict(extra="ignore")


Item = TypeVar("Item")


class Page(Answer, Generic[Item]):
    """One page of a list; ``next_cursor`` is None on the last one."""

    items: list[Item]
    next_cursor: str | None = None
