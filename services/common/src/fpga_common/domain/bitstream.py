"""What the platform knows of a bitstream, whatever its format."""

from dataclasses import dataclass, field
from enum import StrEnum

from fpga_common.domain.errors import Permanent


class BitstreamFormat(StrEnum):
    """File formats that the platform can identify."""

    GBS = "gbs"


class CheckOutcome(StrEnum):
    """What one check of a file found."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a file: an ``error`` means that the file must not be stored or programmed."""

    name: str
    outcome: CheckOutcome
    message: str
    expected: str | None = None
    actual: str | None = None


@dataclass(frozen=True, slots=True)
class BitstreamInfo:
    """What a file says of itself. Sizes and offsets in bytes, clocks in MHz, UUIDs normalised.

    ``payload_offset`` and ``payload_size`` delimit what is written to the card.
    """

    format: BitstreamFormat
    size_bytes: int
    payload_offset: int
    payload_size: int
    interface_ids: tuple[str, ...]
    afu_ids: tuple[str, ...]
    name: str | None = None
    platform: str | None = None
    clocks_mhz: dict[str, str] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()

    @property
    def interface_id(self) -> str | None:
        """The interface id that a region must have."""
        return self.interface_ids[0] if self.interface_ids else None

    @property
    def afu_id(self) -> str | None:
        """The AFU that the region shows after a load."""
        return self.afu_ids[0] if self.afu_ids else None

    @property
    def errors(self) -> tuple[Check, ...]:
        """The checks that forbid storing and programming."""
        return tuple(check for check in self.checks if check.outcome is CheckOutcome.ERROR)


class MalformedBitstream(Permanent):
    """A file that cannot be parsed; ``field`` names where, ``offset`` is in bytes."""

    code = "malformed_bitstream"

    def __init__(
        self, field_name: str, offset: int, message: str, *, expected: str, actual: str
    ) -> None:
        super().__init__(
            f"{field_name} at offset {offset}: {message}", expected=expected, actual=actual
        )
        self.field = field_name
        self.offset = offset
