"""Identifiers: UUIDs, PCI addresses, cards, regions, digests."""

import re
from dataclasses import dataclass
from typing import Final

from fpga_common.domain.errors import Permanent

_UUID: Final = re.compile(r"[0-9a-f]{32}")
_PCI: Final = re.compile(r"([0-9a-fA-F]{4,8}):([0-9a-fA-F]{2}):([0-9a-fA-F]{2})\.([0-7])")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_REGION: Final = re.compile(r"(?P<card>.+)-r(?P<index>\d+)")
_NODE: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


class InvalidId(Permanent, ValueError):
    """Text that is not an identifier of the expected kind; pydantic reports it as a bad value."""

    code = "invalid_id"


def normalise_uuid(text: str) -> str:
    """Return 32 lower-case hex digits.

    Accepts dashes, upper case, surrounding white space and NUL padding, as sysfs files and
    bitstream metadata have them.

    Raises:
        InvalidId: the rest is not 32 hex digits.
    """
    digits = text.strip().strip("\0").strip().replace("-", "").lower()
    if not _UUID.fullmatch(digits):
        raise InvalidId(f"not a UUID: {text!r}", expected="32 hex digits", actual=text)
    return digits


def is_unset_uuid(uuid: str) -> bool:
    """Whether hardware reports "nothing here": every digit f or every digit 0."""
    return set(uuid) in ({"f"}, {"0"})


@dataclass(frozen=True, slots=True, order=True)
class PciAddress:
    """A PCI function's address; ``str()`` gives ``0000:3b:00.0``."""

    domain: int
    bus: int
    device: int
    function: int

    @classmethod
    def parse(cls, text: str) -> "PciAddress":
        """Parse ``dddd:bb:dd.f``. Raises InvalidId."""
        match = _PCI.fullmatch(text)
        if match is None:
            raise InvalidId(f"not a PCI address: {text!r}", expected="dddd:bb:dd.f", actual=text)
        domain, bus, device, function = (int(part, 16) for part in match.groups())
        return cls(domain, bus, device, function)

    def __str__(self) -> str:
        return f"{self.slot}.{self.function}"

    @property
    def slot(self) -> str:
        """The address without its function: what all functions of one card share."""
        return f"{self.domain:04x}:{self.bus:02x}:{self.device:02x}"


def region_id(card_id: str, index: int) -> str:
    """The id of a card's region number ``index``: ``0000:3b:00.0-r0``."""
    return f"{card_id}-r{index}"


def card_of_region(region: str) -> str:
    """The id of the card that a region belongs to. Raises InvalidId."""
    match = _REGION.fullmatch(region)
    if match is None:
        raise InvalidId(f"not a region id: {region!r}", expected="<card id>-r<n>", actual=region)
    return match["card"]


def require_digest(text: str) -> str:
    """Return ``text`` if it is ``sha256:`` and 64 lower-case hex digits. Raises InvalidId."""
    if not _DIGEST.fullmatch(text):
        raise InvalidId(
            f"not a digest: {text!r}", expected="sha256:<64 lower-case hex digits>", actual=text
        )
    return text


def require_node_name(text: str) -> str:
    """Return ``text`` if Kubernetes takes it as a node name. Raises InvalidId."""
    if len(text) > 253 or not _NODE.fullmatch(text):
        raise InvalidId(f"not a node name: {text!r}", expected="a DNS subdomain", actual=text)
    return text
