"""Content digests: how a bitstream is named everywhere."""

import hashlib
from typing import BinaryIO

CHUNK_BYTES = 1024 * 1024


def digest_of(stream: BinaryIO) -> str:
    """``sha256:`` and the hex digest of everything from the stream's position to its end."""
    digest = hashlib.sha256()
    while chunk := stream.read(CHUNK_BYTES):
        digest.update(chunk)
    return f"sha256:{digest.hexdigest()}"
