"""Files that survive the death of the process and of the machine. Used by what keeps state."""

import os
from pathlib import Path


def replace_durably(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Give ``path`` a new content in one step: a reader sees the old or the new one, whole.

    Raises:
        OSError: the disk is full or not writable; the old content is still there.
    """
    temporary = path.with_name(path.name + ".tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make names that were created, moved or removed in ``folder`` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def private_folder(folder: Path) -> Path:
    """Create ``folder`` and what is absent above it for this user alone, and return it."""
    if not folder.is_dir():
        private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder
