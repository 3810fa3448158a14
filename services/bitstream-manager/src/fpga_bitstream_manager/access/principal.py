"""Who calls, as a value."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fpga_common.contract.access import Role


class Source(StrEnum):
    """What a caller showed."""

    ADMIN_FILE = "admin-token-file"
    TOKEN = "token"  # noqa: S105 - a kind of credential
    SESSION = "session"
    NODE = "node"


_RANK: Final = {Role.VIEWER: 0, Role.OPERATOR: 1, Role.ADMIN: 2}


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller. A node has no role: it may only speak for itself.

    ``credential`` is the SHA-256 of the token; a session's is that of the token it was made from.
    """

    name: str
    source: Source
    role: Role | None
    credential: str

    def has(self, role: Role) -> bool:
        """Whether the caller's role includes ``role``."""
        return self.role is not None and _RANK[self.role] >= _RANK[role]

    @property
    def actor(self) -> str:
        """The caller in audit rows and logs."""
        return f"node:{self.name}" if self.source is Source.NODE else self.name
