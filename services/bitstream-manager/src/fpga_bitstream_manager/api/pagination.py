"""Pages of lists: keyset cursors that clients cannot read meaning into."""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from fpga_bitstream_manager.failures import BadRequest
from fpga_common.contract.base import Page

DEFAULT_LIMIT: Final = 50
LARGEST_LIMIT: Final = 200

Key = list[Any]
Item = TypeVar("Item")


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

    def after(self) -> Key | None:
        """The sort key of the last item before this page. Raises InvalidCursor."""
        if self.cursor is None:
            return None
        try:
            fingerprint, *key = json.loads(base64.urlsafe_b64decode(self.cursor.encode()))
        except (ValueError, TypeError) as error:
            raise InvalidCursor("the cursor cannot be read") from error
        if fingerprint != self._fingerprint() or not key:
            raise InvalidCursor("the cursor belongs to another list or other filters")
        return list(key)

    def page(self, found: Sequence[Item], key: Callable[[Item], Key]) -> Page[Item]:
        """A page of ``found``, which was asked for with one item more than ``limit``."""
        items = list(found[: self.limit])
        more = len(found) > self.limit
        return Page(items=items, next_cursor=self.cursor_after(key(items[-1])) if more else None)

    def cursor_after(self, key: Key) -> str:
        """The cursor of the page that begins behind ``key``."""
        return base64.urlsafe_b64encode(json.dumps([self._fingerprint(), *key]).encode()).decode()

    def _fingerprint(self) -> str:
        filters = self.model_dump_json(exclude={"limit", "cursor"})
        return hashlib.sha256(f"{type(self).__name__}{filters}".encode()).hexdigest()[:12]
