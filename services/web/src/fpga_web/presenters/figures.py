"""Numbers and identifiers as text."""

from collections.abc import Iterable
from typing import Final

from fpga_common.contract.bitstreams import Bitstream
from fpga_common.contract.inventory import LinkDocument

KIB: Final = 1024.0


def size(number: int) -> str:
    """A size of bytes in binary units."""
    value = float(number)
    for unit in ("B", "KiB", "MiB"):
        if value < KIB:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= KIB
    return f"{value:.1f} GiB"


def short(identifier: str | None, digits: int = 8) -> str:
    """The first digits of a UUID or digest, enough to tell one from another by eye."""
    if identifier is None:
        return ""
    bare = identifier.removeprefix("sha256:")
    return bare if len(bare) <= digits + 4 else f"{bare[:digits]}…"


def link(document: LinkDocument) -> str:
    """A PCI link as ``8 GT/s ×8``, empty where unknown."""
    return _lanes(document.current_speed, document.current_width)


def best_link(document: LinkDocument) -> str:
    """What the link could be."""
    return _lanes(document.max_speed, document.max_width)


def degraded(document: LinkDocument) -> bool:
    """Whether the link is slower or narrower than it could be."""
    return _below(document.current_speed, document.max_speed) or _below(
        document.current_width, document.max_width
    )


def afu_names(bitstreams: Iterable[Bitstream]) -> dict[str, str]:
    """Names of AFUs by id, from the bitstreams that hold them.

    Several bitstreams may hold one AFU, and a card does not say which of them it was given: what
    their names have in common is its name, and where that is nothing it has none.
    """
    holding: dict[str, list[Bitstream]] = {}
    for bitstream in bitstreams:
        if bitstream.afu_id:
            holding.setdefault(bitstream.afu_id, []).append(bitstream)
    found = {afu_id: _common_name(items) for afu_id, items in holding.items()}
    return {afu_id: name for afu_id, name in found.items() if name}


def bitstream_name(bitstream: Bitstream) -> str:
    """``name@version``, or the name alone."""
    return f"{bitstream.name}@{bitstream.version}" if bitstream.version else bitstream.name


def plural(number: int, one: str, many: str | None = None) -> str:
    """``1 device``, ``2 devices``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def sentence(text: str) -> str:
    """``text`` with its first letter large, as a paragraph begins; a first name stays as it is."""
    first = text.partition(" ")[0].rstrip(":,;.")
    return text[:1].upper() + text[1:] if first.isalpha() else text


def _common_name(bitstreams: Iterable[Bitstream]) -> str:
    found = list(bitstreams)
    for names in ({bitstream_name(item) for item in found}, {item.name for item in found}):
        if len(names) == 1:
            return names.pop()
    return ""


def _lanes(speed: float | None, width: int | None) -> str:
    parts = [f"{speed:g} GT/s" if speed else "", f"×{width}" if width else ""]
    return " ".join(part for part in parts if part)


def _below(current: float | None, best: float | None) -> bool:
    return current is not None and best is not None and current < best
