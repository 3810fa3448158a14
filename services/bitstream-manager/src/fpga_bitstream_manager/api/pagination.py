"""Pages of lists: keyset cursors that clients cannot read meaning into."""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
)

from fpga_bitstream_manager.failures import BadRequest
from fpga_common.contract.base import Page

DEFAULT_LIMIT: Final = 50
LARGEST_LIMIT: Final = 200

Item = TypeVar("Item")
Key = TypeVar("Key", bound=tuple[Any, ...])


#: A number in a sort key: a cursor is as untrusted as any other input.
KeyNumber = Annotated[int, Field(ge=0, lt=2**63)]

_CURSOR: Final = TypeAdapter(tuple[str, list[Any]])


class InvalidCursor(BadRequest):
    """The cursor is not one of this list with these filters. Begin again without a cursor."""

    code = "invalid_cursor"


class PageQuery(BaseModel):
    """Query of a list; lists add their filters. Unknown parameters are errors."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1), AfterValidator(lambda n: min(n, LARGEST_LIMIT))] = Field(
        default=DEFAULT_LIMIT, description="Items a page; more than 200 counts as 200."
    )
    cursor: str | None = Field(default=None, description="next_cursor of the page before.")

    def after(self, shape: TypeAdapter[Key]) -> Key | None:
        """The sort key, of this shape, of the last item before this page. Raises InvalidCursor."""
        if self.cursor is None:
            return None
        try:
            text = base64.urlsafe_b64decode(self.cursor.encode())
            fingerprint, parts = _CURSOR.validate_json(text)
            key = shape.validate_python(tuple(parts))
        except ValueError as error:
            raise InvalidCursor("the cursor cannot be read") from error
        if fingerprint != self._fingerprint():
            raise InvalidCursor("the cursor belongs to another list or other filters")
        return key

    def page(self, found: Sequence[Item], key: Callable[[Item], Sequence[Any]]) -> Page[Item]:
        """A page of ``found``, which was asked for with one item more than ``limit``."""
        items = list(found[: self.limit])
        more = len(found) > self.limit
        return Page(items=items, next_cursor=self.cursor_after(key(items[-1])) if more else None)

    def cursor_after(self, key: Sequence[Any]) -> str:
        """The cursor of the page that begins behind ``key``."""
        text = json.dumps([self._fingerprint(), list(key)])
        return base64.urlsafe_b64encode(text.encode()).decode()

    def _fingerprint(self) -> str:
        filters = self.model_dump_json(exclude={"limit", "cursor"})
        return hashlib.sha256(f"{type(self).__name__}{filters}".encode()).hexdigest()[:12]
