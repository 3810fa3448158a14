"""Takes a file in: received, hashed, parsed, checked, then stored and named. Called by the API.

Nothing of a refused file stays. The bytes get into the store inside the ledger's transaction, so
that a deletion of the same content at the same time cannot leave a row without bytes.
"""

from dataclasses import dataclass
from typing import BinaryIO, Final

from sqlalchemy.orm import Session

from fpga_bitstream_manager.access.audit import record
from fpga_bitstream_manager.bitstreams.catalogue import find
from fpga_bitstream_manager.bitstreams.documents import bitstream_row
from fpga_bitstream_manager.bitstreams.names import UNVERSIONED, Label
from fpga_bitstream_manager.bitstreams.store import BlobStore, StagedBlob
from fpga_bitstream_manager.clock import Clock
from fpga_bitstream_manager.failures import Conflict, Finding, Invalid
from fpga_bitstream_manager.ledger import BitstreamNameRow, BitstreamRow, Ledger
from fpga_common.bitstream import inspect
from fpga_common.contract.bitstreams import Bitstream
from fpga_common.domain.bitstream import BitstreamInfo, MalformedBitstream

CONTENT_DIGEST: Final = "Content-Digest"


class InvalidBitstream(Invalid):
    """The file is not a bitstream that can be programmed; nothing was stored. ``errors`` name each
    field with what was expected and found; ``fpgactl bitstreams inspect FILE`` shows the same.
    """

    code = "invalid_bitstream"


class DigestMismatch(Invalid):
    """The bytes that arrived are not those that ``Content-Digest`` announced. Send them again."""

    code = "digest_mismatch"


class VersionTaken(Conflict):
    """This version of the name is another file already, and a version never changes. Take a new
    version, or none: a name without version follows the last upload.
    """

    code = "version_taken"


@dataclass(frozen=True, slots=True)
class Uploaded:
    """The stored bitstream; ``created`` is False when this content was there already."""

    bitstream: Bitstream
    created: bool


@dataclass(frozen=True, slots=True)
class Uploader:
    """Stores what is sent. ``max_bytes`` is the largest file."""

    ledger: Ledger
    blobs: BlobStore
    clock: Clock
    max_bytes: int

    def upload(
        self, content: BinaryIO, label: Label, *, by: str, announced_digest: str | None = None
    ) -> Uploaded:
        """Receive and store one file.

        Raises InvalidBitstream, DigestMismatch, VersionTaken, BitstreamTooLarge, StorageFull.
        """
        staged = self.blobs.stage(content, max_bytes=self.max_bytes)
        try:
            _require_digest(announced_digest, staged.digest)
            return self._store(staged, _inspect(staged), label, by)
        finally:
            self.blobs.discard(staged)

    def _store(self, staged: StagedBlob, info: BitstreamInfo, label: Label, by: str) -> Uploaded:
        now = self.clock()
        with self.ledger.transaction() as session:
            row = session.get(BitstreamRow, staged.digest, with_for_update=True)
            created = row is None
            if row is None:
                row = bitstream_row(staged.digest, info, label, uploaded_by=by, uploaded_at=now)
                session.add(row)
                session.flush()
            row.name, row.version = label.name, label.version
            self._point(session, label, staged.digest)
            self.blobs.keep(staged)
            record(session, self.clock, "bitstream.upload", staged.digest, label=str(label))
            session.flush()
            return Uploaded(find(session, staged.digest), created)

    def _point(self, session: Session, label: Label, digest: str) -> None:
        """Let the label mean ``digest``; the bare name follows."""
        if label.version:
            fixed = session.get(BitstreamNameRow, (label.name, label.version))
            if fixed is not None and fixed.digest != digest:
                raise VersionTaken(
                    f"{label} is another file already", expected=fixed.digest, actual=digest
                )
        for version in {UNVERSIONED, label.version or UNVERSIONED}:
            row = session.get(BitstreamNameRow, (label.name, version))
            if row is None:
                row = BitstreamNameRow(name=label.name, version=version, digest=digest)
                session.add(row)
            row.digest, row.pointed_at = digest, self.clock()


def _require_digest(announced: str | None, received: str) -> None:
    if announced is not None and announced != received:
        raise DigestMismatch(
            "what arrived is not what was announced", expected=announced, actual=received
        )


def _inspect(staged: StagedBlob) -> BitstreamInfo:
    try:
        with staged.open() as stream:
            info = inspect(stream, staged.size_bytes)
    except MalformedBitstream as error:
        finding = Finding(error.message, error.field, error.expected, error.actual)
        raise _refusal([finding]) from error
    if info.errors:
        raise _refusal(
            [
                Finding(check.message, check.name, check.expected, check.actual)
                for check in info.errors
            ]
        )
    return info


def _refusal(findings: list[Finding]) -> InvalidBitstream:
    first = findings[0]
    return InvalidBitstream(
        f"{first.field}: {first.detail}",
        findings=findings,
        expected=first.expected,
        actual=first.actual,
    )
