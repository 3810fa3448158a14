"""The small typed steps of a programmer. Called by ``agent.handover``, which owns their order.

A programmer knows one kind of hardware. It knows nothing of pods, reservations or loads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol

from fpga_common.domain.bitstream import BitstreamInfo
from fpga_common.domain.card import Card, Region

Progress = Callable[[float], None]
"""Takes how far the write is, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Image:
    """A checked bitstream, open for reading; ``info`` says where its payload is, in bytes."""

    stream: BinaryIO
    info: BitstreamInfo


class ExclusiveRegion(Protocol):
    """A region that nobody else can open until this is closed."""

    def write(self, image: Image, progress: Progress, *, deadline: float) -> None:
        """Write the image.

        ``deadline`` is on the monotonic clock. Raises OperationFailed; what is in the region is
        then unknown.
        """

    def __enter__(self) -> "ExclusiveRegion":
        """Return itself."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Let others open the region again."""


class Programmer(Protocol):
    """One way to program the cards of one backend."""

    def open_exclusively(self, card: Card, region: Region) -> ExclusiveRegion:
        """Take the region, changing nothing in it.

        Raises OperationFailed: open_elsewhere, card_missing.
        """


ProgrammerFactory = Callable[[Path], Programmer]
"""Makes a programmer for the host whose ``/sys`` and ``/dev`` are below a folder."""
