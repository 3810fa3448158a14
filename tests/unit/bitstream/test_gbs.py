"""What a GBS file says of itself, and every way in which it can be broken."""

import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from fpga_common.bitstream import MalformedBitstream, digest_of, inspect, inspect_file
from fpga_common.bitstream.checks import MIN_PAYLOAD_BYTES
from fpga_common.domain.bitstream import BitstreamFormat, CheckOutcome
from fpga_common.testing.sim import make_gbs

INTERFACE = "f64e598bea11517fa28e7bc65d885104"
AFU = "d8424dc4a4a3c413f89e433683f9040b"
MAGIC = b"XeonFPGA\xb7GBSv001"
GOOD = make_gbs(INTERFACE, AFU, name="nlb_400")


def gbs(document: Any, payload: bytes = b"\x5a" * 4096) -> bytes:
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    return MAGIC + len(text).to_bytes(4, "little") + text + payload


def metadata(**image: Any) -> dict[str, Any]:
    clusters = [{"name": "nlb", "total-contexts": 1, "accelerator-type-uuid": AFU}]
    values = {
        "interface-uuid": INTERFACE,
        "magic-no": 488605312,
        "accelerator-clusters": clusters,
    } | image
    return {
        "version": 1,
        "afu-image": {name: value for name, value in values.items() if value is not ...},
    }


def refusal(content: bytes) -> MalformedBitstream:
    with pytest.raises(MalformedBitstream) as caught:
        inspect(io.BytesIO(content), len(content))
    return caught.value


def test_a_good_gbs_says_what_it_is_and_where_its_payload_is() -> None:
    info = inspect(io.BytesIO(GOOD), len(GOOD))
    assert info.format is BitstreamFormat.GBS
    assert (info.interface_id, info.afu_id) == (INTERFACE, AFU)
    assert (info.name, info.platform) == ("nlb_400", "simulated")
    assert info.clocks_mhz == {"high": "400", "low": "200"}
    assert info.payload_offset + info.payload_size == info.size_bytes == len(GOOD)
    assert info.payload_size == 65536
    assert info.errors == ()


def test_upper_case_and_dashed_ids_are_normalised() -> None:
    dashed = "F64E598B-EA11-517F-A28E-7BC65D885104"
    content = gbs(metadata(**{"interface-uuid": dashed}))
    assert inspect(io.BytesIO(content), len(content)).interface_id == INTERFACE


def test_a_wrong_magic_is_refused_with_both_values() -> None:
    error = refusal(b"XeonFPGA\x087GBSv001" + GOOD[16:])
    assert (error.field, error.offset) == ("magic", 0)
    assert error.expected == MAGIC.hex()
    assert error.actual == b"XeonFPGA\x087GBSv00".hex()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"xclbin2\0" + bytes(500), "an xclbin"),
        (b"\x7fELF" + bytes(500), "an ELF file"),
        (b"\x19\xfd\xea\xb6" + bytes(500), "a signed update"),
    ],
)
def test_another_known_format_is_named(content: bytes, name: str) -> None:
    assert name in refusal(content).message


def test_an_empty_file_is_refused() -> None:
    error = refusal(b"")
    assert (error.field, error.actual) == ("magic", "no bytes")


def test_a_file_cut_in_the_header_is_refused_with_the_offset() -> None:
    error = refusal(GOOD[:18])
    assert (error.field, error.offset) == ("header", 18)
    assert (error.expected, error.actual) == ("at least 20 bytes", "18 bytes")


def test_a_truncated_gbs_is_refused_with_the_offset() -> None:
    error = refusal(GOOD[:100])
    assert (error.field, error.offset) == ("metadata length", 16)
    assert error.expected == "at most 80 bytes"


def test_a_stream_shorter_than_announced_is_refused() -> None:
    with pytest.raises(MalformedBitstream) as caught:
        inspect(io.BytesIO(GOOD[:100]), len(GOOD))
    assert (caught.value.field, caught.value.offset) == ("metadata", 100)


@pytest.mark.parametrize("length", [0, 65537, 2**32 - 1])
def test_a_wrong_metadata_length_is_refused_without_reading_it(length: int) -> None:
    error = refusal(MAGIC + length.to_bytes(4, "little") + bytes(100))
    assert (error.field, error.offset) == ("metadata length", 16)
    assert error.actual == f"{length} bytes"


def test_a_missing_payload_is_refused() -> None:
    content = gbs(metadata(), payload=b"")
    error = refusal(content)
    assert (error.field, error.offset, error.actual) == ("payload", len(content), "0 bytes")


def test_broken_json_is_refused_at_the_byte_where_it_breaks() -> None:
    error = refusal(gbs('{"ü": 1, !}'.encode()))
    assert (error.field, error.expected) == ("metadata", "JSON")
    assert error.offset == 20 + len('{"ü": 1, '.encode())


def test_text_that_is_not_utf_8_is_refused_at_its_byte() -> None:
    error = refusal(gbs(b'{"version": "\xff"}'))
    assert (error.field, error.offset, error.expected) == ("metadata", 33, "UTF-8")


@pytest.mark.parametrize(
    "document",
    [
        b"[" * 60_000,
        b'{"version": ' + b"9" * 6000 + b"}",
        b'{"version": NaN}',
        b"[]",
        b"null",
        b'"text"',
    ],
)
def test_hostile_json_is_refused(document: bytes) -> None:
    assert refusal(gbs(document)).field == "metadata"


@pytest.mark.parametrize(
    ("image", "field"),
    [
        ({"interface-uuid": ...}, "interface-uuid"),
        ({"interface-uuid": 7}, "interface-uuid"),
        ({"interface-uuid": "short"}, "interface-uuid"),
        ({"interface-uuid": "f" * 32}, "interface-uuid"),
        ({"accelerator-clusters": ...}, "accelerator-clusters"),
        ({"accelerator-clusters": []}, "accelerator-clusters"),
        ({"accelerator-clusters": {}}, "accelerator-clusters"),
        ({"accelerator-clusters": [1]}, "accelerator-clusters"),
        ({"accelerator-clusters": [{"name": "x"}]}, "accelerator-type-uuid"),
        (
            {"accelerator-clusters": [{"accelerator-type-uuid": AFU, "name": "\x1b[31m"}]},
            "name",
        ),
        ({"magic-no": 1}, "magic-no"),
        ({"magic-no": "488605312"}, "magic-no"),
        ({"clock-frequency-high": True}, "clock-frequency-high"),
        ({"clock-frequency-low": "fast"}, "clock-frequency-low"),
        ({"clock-frequency-low": -1}, "clock-frequency-low"),
        ({"clock-frequency-low": 10**400}, "clock-frequency-low"),
    ],
)
def test_a_missing_or_wrong_value_is_refused_by_name(image: dict[str, Any], field: str) -> None:
    error = refusal(gbs(metadata(**image)))
    assert error.field == field
    assert error.offset >= 20
    assert error.expected
    assert error.actual


@pytest.mark.parametrize("version", [2, "1", True, None, 1e999])
def test_an_unknown_version_is_refused(version: Any) -> None:
    assert refusal(gbs(metadata() | {"version": version})).field in ("version", "metadata")


def test_a_wrong_value_is_refused_with_its_place_in_the_file() -> None:
    content = gbs(metadata(**{"interface-uuid": "short"}))
    assert refusal(content).offset == content.index(b'"interface-uuid"')


def test_automatic_clocks_are_kept_as_text() -> None:
    content = gbs(metadata(**{"clock-frequency-high": "auto-312.5", "clock-frequency-low": 156.25}))
    info = inspect(io.BytesIO(content), len(content))
    assert info.clocks_mhz == {"high": "auto-312.5", "low": "156.25"}


def test_metadata_without_magic_number_is_a_warning() -> None:
    content = gbs(metadata(**{"magic-no": ...}))
    info = inspect(io.BytesIO(content), len(content))
    assert [check.outcome for check in info.checks] == [CheckOutcome.WARNING, CheckOutcome.OK]
    assert info.errors == ()


def test_every_cluster_of_a_file_is_an_afu() -> None:
    other = "9aeffe5f84570612c000c9660d824272"
    clusters = [{"name": n, "accelerator-type-uuid": u} for n, u in (("a", AFU), ("b", other))]
    content = gbs(metadata(**{"accelerator-clusters": clusters}))
    assert inspect(io.BytesIO(content), len(content)).afu_ids == (AFU, other)


@pytest.mark.parametrize(
    ("payload_bytes", "errors"), [(1, 1), (MIN_PAYLOAD_BYTES - 1, 1), (MIN_PAYLOAD_BYTES, 0)]
)
def test_a_payload_too_short_for_a_bitstream_parses_but_has_an_error(
    payload_bytes: int, errors: int
) -> None:
    content = gbs(metadata(), payload=bytes(payload_bytes))
    assert len(inspect(io.BytesIO(content), len(content)).errors) == errors


def test_a_stream_that_gives_single_bytes_is_read_whole() -> None:
    class Dripping(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 0, 1))

    assert inspect(Dripping(GOOD), len(GOOD)).afu_id == AFU


def test_a_file_on_disk_is_inspected(tmp_path: Path) -> None:
    path = tmp_path / "good.gbs"
    path.write_bytes(GOOD)
    assert inspect_file(path).afu_id == AFU


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(MalformedBitstream, match="not a file"):
        inspect_file(path)


def test_a_huge_sparse_file_is_inspected_without_reading_its_payload(tmp_path: Path) -> None:
    path = tmp_path / "huge.gbs"
    path.write_bytes(GOOD)
    os.truncate(path, 2**40)
    assert inspect_file(path).size_bytes == 2**40


def test_a_digest_names_the_algorithm() -> None:
    assert digest_of(io.BytesIO(GOOD)) == f"sha256:{hashlib.sha256(GOOD).hexdigest()}"
