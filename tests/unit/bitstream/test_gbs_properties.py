"""Whatever a file holds, inspecting it ends in an answer or in a typed refusal."""

import io
import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from fpga_common.bitstream import MalformedBitstream, inspect
from fpga_common.domain.ids import is_unset_uuid
from fpga_common.testing.sim import make_gbs

MAGIC = b"XeonFPGA\xb7GBSv001"
INTERFACE = "f64e598bea11517fa28e7bc65d885104"
AFU = "d8424dc4a4a3c413f89e433683f9040b"
GOOD = make_gbs(INTERFACE, AFU, payload_bytes=1000)
UUIDS = st.uuids().map(lambda value: value.hex).filter(lambda text: not is_unset_uuid(text))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def answer_or_refusal(content: bytes, size: int | None = None) -> None:
    try:
        info = inspect(io.BytesIO(content), len(content) if size is None else size)
    except MalformedBitstream as error:
        require_reasons(error)
    else:
        assert info.interface_id
        assert info.afu_id
        assert info.payload_size > 0


def require_reasons(refusal: MalformedBitstream) -> None:
    assert refusal.field
    assert refusal.expected
    assert refusal.actual
    assert refusal.offset >= 0


@given(st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    answer_or_refusal(content)


@given(st.binary(max_size=300), st.integers(0, 2**32 - 1), st.integers(-1, 2**63))
def test_any_bytes_behind_the_magic(rest: bytes, length: int, size: int) -> None:
    answer_or_refusal(MAGIC + length.to_bytes(4, "little") + rest, size)


@given(st.integers(0, len(GOOD)))
def test_a_good_file_cut_anywhere(length: int) -> None:
    answer_or_refusal(GOOD[:length])


@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=5))
def test_a_good_file_with_flipped_bytes(changes: list[tuple[int, int]]) -> None:
    content = bytearray(GOOD)
    for position, value in changes:
        content[position] = value
    answer_or_refusal(bytes(content))


@settings(deadline=None)
@given(JSON)
@example({"version": 1, "afu-image": {"accelerator-clusters": [{"name": "\ud800"}]}})
def test_any_json_as_metadata(document: Any) -> None:
    text = json.dumps(document).encode()
    answer_or_refusal(MAGIC + len(text).to_bytes(4, "little") + text + bytes(1000))


@given(
    st.sampled_from(
        ["interface-uuid", "magic-no", "power", "clock-frequency-high", "accelerator-clusters"]
    ),
    JSON,
)
def test_any_json_as_one_value_of_the_metadata(name: str, value: Any) -> None:
    length = int.from_bytes(GOOD[16:20], "little")
    document = json.loads(GOOD[20 : 20 + length])
    document["afu-image"][name] = value
    text = json.dumps(document).encode()
    answer_or_refusal(MAGIC + len(text).to_bytes(4, "little") + text + bytes(1000))


@given(UUIDS, UUIDS, st.integers(1, 5000))
def test_a_written_gbs_is_read_back(interface_id: str, afu_id: str, payload_bytes: int) -> None:
    content = make_gbs(interface_id, afu_id, payload_bytes)
    info = inspect(io.BytesIO(content), len(content))
    assert (info.interface_id, info.afu_id) == (interface_id, afu_id)
    assert content[info.payload_offset :] == content[-payload_bytes:]
    assert info.payload_size == payload_bytes
