"""The JSON in a GBS: every value checked for its type before it is used.

Field names and rules: OPAE ``libbitstream`` and its packager's ``afu_schema_v01.json``.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Final

from fpga_common.domain.bitstream import Check, CheckOutcome, MalformedBitstream
from fpga_common.domain.ids import InvalidId, is_unset_uuid, normalise_uuid

METADATA_MAGIC: Final = 488605312
KNOWN_VERSIONS: Final = (1, 640, 650)
MAX_TEXT: Final = 255
MAX_CLUSTERS: Final = 64
_AUTO_CLOCK: Final = re.compile(r"auto(-[0-9.]+)?")
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class GbsMetadata:
    """What the metadata says; UUIDs normalised, clocks in MHz as text (a number or ``auto``)."""

    interface_id: str
    afu_ids: tuple[str, ...]
    name: str | None
    platform: str | None
    clocks_mhz: dict[str, str]
    checks: tuple[Check, ...]


def parse_metadata(data: bytes, offset: int) -> GbsMetadata:
    """Parse the metadata, which stands ``offset`` bytes into the file.

    Raises:
        MalformedBitstream: no JSON, a value of a wrong type, or no interface or AFU id.
    """
    reader = _Reader(data, offset)
    document = reader.document()
    _require_version(reader, document)
    image = reader.object(document, "afu-image")
    clusters = _clusters(reader, image)
    return GbsMetadata(
        interface_id=_uuid(reader, image, "interface-uuid"),
        afu_ids=tuple(_uuid(reader, cluster, "accelerator-type-uuid") for cluster in clusters),
        name=_text(reader, clusters[0], "name"),
        platform=_text(reader, document, "platform-name"),
        clocks_mhz=_clocks(reader, image),
        checks=(_check_magic(reader, image),),
    )


class _Reader:
    """Looks values up and says where in the file a wrong one stands."""

    def __init__(self, data: bytes, offset: int) -> None:
        self._data = data
        self._offset = offset

    def document(self) -> dict[str, Any]:
        try:
            text = self._data.rstrip(b"\0").decode()
        except UnicodeDecodeError as error:
            raise self._broken(error.start, "UTF-8", error.reason) from error
        try:
            value = json.loads(text, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            raise self._broken(len(text[: error.pos].encode()), "JSON", error.msg) from error
        except (ValueError, RecursionError) as error:
            raise self._broken(0, "JSON", str(error)) from error
        return self.require_object(value, "metadata")

    def object(self, parent: dict[str, Any], name: str) -> dict[str, Any]:
        return self.require_object(self.value(parent, name, "an object"), name)

    def require_object(self, value: Any, name: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong(name, "an object", value)
        return value

    def value(self, parent: dict[str, Any], name: str, expected: str) -> Any:
        if name not in parent:
            raise MalformedBitstream(
                name, self._offset, "not there", expected=expected, actual="absent"
            )
        return parent[name]

    def wrong(self, name: str, expected: str, value: Any) -> MalformedBitstream:
        return MalformedBitstream(
            name, self._position(name), "wrong value", expected=expected, actual=_shown(value)
        )

    def _broken(self, position: int, expected: str, reason: str) -> MalformedBitstream:
        return MalformedBitstream(
            "metadata",
            self._offset + position,
            f"not {expected}: {reason}",
            expected=expected,
            actual=_shown_bytes(self._data[position : position + 16]),
        )

    def _position(self, name: str) -> int:
        return self._offset + max(0, self._data.find(json.dumps(name).encode()))


def _require_version(reader: _Reader, document: dict[str, Any]) -> None:
    expected = " or ".join(str(version) for version in KNOWN_VERSIONS)
    version = reader.value(document, "version", expected)
    if not _is_number(version) or version not in KNOWN_VERSIONS:
        raise reader.wrong("version", expected, version)


def _clusters(reader: _Reader, image: dict[str, Any]) -> list[dict[str, Any]]:
    name, expected = "accelerator-clusters", f"a list of 1 to {MAX_CLUSTERS} objects"
    clusters = reader.value(image, name, expected)
    if not isinstance(clusters, list) or not 1 <= len(clusters) <= MAX_CLUSTERS:
        raise reader.wrong(name, expected, clusters)
    return [reader.require_object(cluster, name) for cluster in clusters]


def _uuid(reader: _Reader, parent: dict[str, Any], name: str) -> str:
    expected = "a UUID"
    text = reader.value(parent, name, expected)
    if not isinstance(text, str):
        raise reader.wrong(name, expected, text)
    try:
        uuid = normalise_uuid(text)
    except InvalidId as error:
        raise reader.wrong(name, expected, text) from error
    if is_unset_uuid(uuid):
        raise reader.wrong(name, "a UUID that names something", text)
    return uuid


def _text(reader: _Reader, parent: dict[str, Any], name: str) -> str | None:
    text = parent.get(name)
    if text is None:
        return None
    if not isinstance(text, str) or len(text) > MAX_TEXT or not text.isprintable():
        raise reader.wrong(name, f"at most {MAX_TEXT} printable characters", text)
    return text or None


def _clocks(reader: _Reader, image: dict[str, Any]) -> dict[str, str]:
    names = {"high": "clock-frequency-high", "low": "clock-frequency-low"}
    return {key: _clock(reader, name, image[name]) for key, name in names.items() if name in image}


def _clock(reader: _Reader, name: str, value: Any) -> str:
    if isinstance(value, str) and len(value) <= MAX_TEXT and _AUTO_CLOCK.fullmatch(value):
        return value
    if _is_number(value) and 0 <= value < 1e6:
        return f"{value:g}"
    raise reader.wrong(name, "a number of MHz, auto, or auto-<MHz>", value)


def _check_magic(reader: _Reader, image: dict[str, Any]) -> Check:
    name, expected = "magic-no", str(METADATA_MAGIC)
    if name not in image:
        message = "OPAE's own tools do not load a file without it"
        return Check(name, CheckOutcome.WARNING, message, expected, "absent")
    if image[name] != METADATA_MAGIC or not _is_number(image[name]):
        raise reader.wrong(name, expected, image[name])
    return Check(name, CheckOutcome.OK, "the metadata's magic number is right", expected, expected)


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _shown_bytes(data: bytes) -> str:
    return json.dumps(data.decode("ascii", "backslashreplace")) if data else "the end"
