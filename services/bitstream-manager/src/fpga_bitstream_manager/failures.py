"""Kinds of failure that a caller of the API can see; ``api.problems`` gives each kind its status.

Services raise a subclass that names the reason. The first paragraph of the subclass's docstring is
what ``/problems/<code>`` shows, so it says what happened and what to do. Knows nothing of HTTP.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fpga_common.domain.errors import Permanent, Temporary


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with what was sent; ``pointer`` is a JSON pointer into a body."""

    detail: str
    field: str | None = None
    expected: str | None = None
    actual: str | None = None
    pointer: str | None = None


class BadRequest(Permanent):
    """The request cannot be understood. Correct it as the detail says."""

    code = "bad_request"


class NotSignedIn(Permanent):
    """No valid token or session came with the request.

    Send ``Authorization: Bearer <token>``.
    """

    code = "not_signed_in"


class NotAllowed(Permanent):
    """The caller is known, and may not do this. An administrator can give a token another role."""

    code = "not_allowed"


class NotFound(Permanent):
    """There is nothing under this name."""

    code = "not_found"


class UnknownBitstream(NotFound):
    """There is no such bitstream. ``fpgactl bitstreams list`` shows what is stored."""

    code = "unknown_bitstream"


class UnknownNode(NotFound):
    """There is no such node: none of this name has ever reported."""

    code = "unknown_node"


class UnknownDevice(NotFound):
    """The node has no such device. ``fpgactl devices`` lists them."""

    code = "unknown_device"


class Conflict(Permanent):
    """The present state does not allow this."""

    code = "conflict"


class TooLarge(Permanent):
    """What was sent is larger than the manager takes."""

    code = "too_large"


class Invalid(Permanent):
    """What was sent is understood and wrong; ``errors`` of the problem say where."""

    code = "invalid"

    def __init__(
        self,
        message: str,
        *,
        findings: Sequence[Finding] = (),
        expected: str | None = None,
        actual: str | None = None,
    ) -> None:
        super().__init__(message, expected=expected, actual=actual)
        self.findings = tuple(findings)


class StorageFull(Temporary):
    """The disk of the bitstream store is full; nothing was stored. Delete bitstreams or enlarge
    the volume, then send it again.
    """

    code = "storage_full"


class Unavailable(Temporary):
    """Something that the manager needs does not answer now. Try again in a moment."""

    code = "unavailable"
