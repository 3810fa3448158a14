"""What bitstreams may be called, and what a reference means. Pure."""

import re
from dataclasses import dataclass
from typing import Final

from fpga_bitstream_manager.failures import BadRequest

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_VERSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_DIGEST_PREFIX: Final = "sha256:"

UNVERSIONED: Final = ""


class InvalidName(BadRequest):
    """A bitstream's name has 1 to 128 letters, digits, dots, dashes and underscores, a version 1 to
    64 (and plus signs); both begin with a letter or digit.
    """

    code = "invalid_name"


@dataclass(frozen=True, slots=True)
class Label:
    """A name, and a version where it has one."""

    name: str
    version: str | None = None

    def __str__(self) -> str:
        return f"{self.name}@{self.version}" if self.version else self.name


def label(name: str, version: str | None) -> Label:
    """A checked label. Raises InvalidName."""
    if not _NAME.fullmatch(name):
        raise InvalidName("not a bitstream name", expected=_NAME.pattern, actual=name)
    if version is not None and not _VERSION.fullmatch(version):
        raise InvalidName("not a version", expected=_VERSION.pattern, actual=version)
    return Label(name, version)


def is_digest(reference: str) -> bool:
    """Whether a reference is by content; no name has a colon."""
    return reference.startswith(_DIGEST_PREFIX)


def split_reference(reference: str) -> tuple[str, str]:
    """The name and version of ``name`` or ``name@version``; without one, version is empty."""
    name, _, version = reference.partition("@")
    return name, version
