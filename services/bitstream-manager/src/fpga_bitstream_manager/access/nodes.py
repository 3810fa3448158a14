"""Which node a token belongs to. Called by ``access.authentication``."""

from pathlib import Path
from typing import Final, Protocol

from fpga_bitstream_manager.access.secrets import SecretFile, hash_of, same

SUFFIX: Final = ".token"


class NodeTokens(Protocol):
    """Knows nodes by their tokens. A cluster asks TokenReview, one machine looks into a folder."""

    def node_of(self, token: str) -> str | None:
        """The node that ``token`` belongs to, None for an unknown token.

        Raises a Temporary where nobody can be asked now.
        """


class NoNodeTokens:
    """Knows no node."""

    def node_of(self, token: str) -> str | None:
        """None."""
        return None


class FolderNodeTokens:
    """``<folder>/<node>.token``; files are read anew when they change or appear."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, SecretFile] = {}

    def node_of(self, token: str) -> str | None:
        """The node whose file has this token."""
        wanted = hash_of(token)
        found = None
        for node, file in self._current().items():
            known = file.hash()
            if known is not None and same(known, wanted):
                found = node
        return found

    def _current(self) -> dict[str, SecretFile]:
        try:
            paths = sorted(self._folder.glob(f"*{SUFFIX}"))
        except OSError:
            paths = []
        self._files = {
            path.name.removesuffix(SUFFIX): self._files.get(path.name.removesuffix(SUFFIX))
            or SecretFile(path)
            for path in paths
        }
        return self._files
