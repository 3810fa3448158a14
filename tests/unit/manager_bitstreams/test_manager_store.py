"""The folder store, and names of bitstreams."""

import hashlib
import io
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fpga_bitstream_manager.bitstreams.names import InvalidName, Label, label, split_reference
from fpga_bitstream_manager.bitstreams.store import (
    BitstreamTooLarge,
    BlobMissing,
    FolderStore,
    StoreUnavailable,
    open_store,
)
from fpga_bitstream_manager.failures import StorageFull
from fpga_common.domain.errors import InvalidConfiguration

CONTENT = b"configuration" * 1000
DIGEST = "sha256:" + hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


def files(store_folder: Path) -> list[Path]:
    return [path for path in store_folder.rglob("*") if path.is_file()]


@contextmanager
def files_no_longer_than(size: int) -> Iterator[None]:
    """The kernel refuses to write beyond ``size`` bytes, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_kept_bytes_come_back(store: FolderStore) -> None:
    staged = store.stage(io.BytesIO(CONTENT), max_bytes=len(CONTENT))

    assert (staged.digest, staged.size_bytes) == (DIGEST, len(CONTENT))
    assert store.keep(staged)
    with store.open(DIGEST) as stream:
        assert stream.read() == CONTENT


def test_the_same_bytes_are_kept_once(store: FolderStore, tmp_path: Path) -> None:
    for first_time in (True, False):
        staged = store.stage(io.BytesIO(CONTENT), max_bytes=len(CONTENT))
        assert store.keep(staged) is first_time

    assert len(files(tmp_path)) == 1


def test_staged_bytes_cannot_be_read_by_their_digest_and_leave_nothing(
    store: FolderStore, tmp_path: Path
) -> None:
    staged = store.stage(io.BytesIO(CONTENT), max_bytes=len(CONTENT))
    with pytest.raises(BlobMissing):
        store.open(DIGEST)

    store.discard(staged)

    assert files(tmp_path) == []


def test_a_byte_too_many_is_refused_and_leaves_nothing(store: FolderStore, tmp_path: Path) -> None:
    with pytest.raises(BitstreamTooLarge):
        store.stage(io.BytesIO(CONTENT), max_bytes=len(CONTENT) - 1)

    assert files(tmp_path) == []


def test_a_full_disk_is_said_and_leaves_nothing(store: FolderStore, tmp_path: Path) -> None:
    with files_no_longer_than(4096), pytest.raises(StorageFull):
        store.stage(io.BytesIO(CONTENT), max_bytes=len(CONTENT))

    assert files(tmp_path) == []


def test_a_client_that_breaks_off_leaves_nothing(store: FolderStore, tmp_path: Path) -> None:
    class BreaksOff(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 0:
                raise ConnectionResetError
            return super().read(100)

    with pytest.raises(StoreUnavailable):
        store.stage(BreaksOff(CONTENT), max_bytes=len(CONTENT))

    assert files(tmp_path) == []


def test_deleting_twice_is_no_error(store: FolderStore) -> None:
    store.keep(store.stage(io.BytesIO(CONTENT), max_bytes=len(CONTENT)))

    store.delete(DIGEST)
    store.delete(DIGEST)

    with pytest.raises(BlobMissing):
        store.open(DIGEST)


def test_a_store_whose_place_is_taken_by_a_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")

    with pytest.raises(StoreUnavailable):
        FolderStore(tmp_path / "store").check()


@pytest.mark.parametrize("url", ["s3://bucket", "file://host", "nonsense"])
def test_only_folders_are_stores(url: str) -> None:
    with pytest.raises(InvalidConfiguration):
        open_store(url)


@pytest.mark.parametrize(
    ("name", "version"),
    [("", None), ("a b", None), ("../x", None), ("sha256:1", None), ("a@1", None), ("a", "x/y")],
)
def test_what_is_no_name_is_refused(name: str, version: str | None) -> None:
    with pytest.raises(InvalidName):
        label(name, version)


def test_a_label_and_a_reference_are_the_same_text() -> None:
    assert str(Label("nlb0", "1.0")) == "nlb0@1.0"
    assert split_reference("nlb0@1.0") == ("nlb0", "1.0")
    assert split_reference("nlb0") == ("nlb0", "")


def test_what_killed_uploads_left_is_cleared_when_it_is_old(
    store: FolderStore, tmp_path: Path
) -> None:
    store.stage(io.BytesIO(CONTENT), max_bytes=len(CONTENT))

    assert store.clear_leftovers() == 0
    assert store.clear_leftovers(older_than_seconds=-1) == 1
    assert files(tmp_path) == []
