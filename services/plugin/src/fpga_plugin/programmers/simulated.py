"""Programs simulated cards: takes the time and gives the result that the card's control file says.

Used when the host root is simulated (``fpga_common.domain.simulation``). Like the hardware, it
leaves the new AFU's id in the port's ``afu_id`` file, and nothing else.
"""

import fcntl
import time
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final

from fpga_common.domain.card import Card, Region
from fpga_common.domain.operation import FailureCode
from fpga_common.domain.simulation import control_path, read_behaviour
from fpga_plugin.failures import OperationFailed, operation_failed
from fpga_plugin.programmers.protocol import Image, Progress

_TICK_SECONDS: Final = 0.02


class SimulatedProgrammer:
    """Programmer of the cards below a simulated host root."""

    def __init__(self, host_root: Path) -> None:
        self._host_root = host_root

    def open_exclusively(self, card: Card, region: Region) -> "SimulatedRegion":
        """Lock the card. Raises OperationFailed: open_elsewhere, card_missing."""
        _port_folder(self._host_root, card, region)
        lock = _lock_of(self._host_root, card.id)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise operation_failed(
                FailureCode.OPEN_ELSEWHERE, f"{region.id} is open in another process"
            ) from error
        return SimulatedRegion(self._host_root, card, region, lock)


class SimulatedRegion:
    """A simulated region that is locked."""

    def __init__(self, host_root: Path, card: Card, region: Region, lock: BinaryIO) -> None:
        self._host_root = host_root
        self._card = card
        self._region = region
        self._lock = lock

    def write(self, image: Image, progress: Progress, *, deadline: float) -> None:
        """Take the card's time, then fail or change its AFU as the control file says."""
        behaviour = read_behaviour(self._host_root, self._card.id)
        _take_time(behaviour.programming_seconds, progress, deadline)
        if behaviour.fail_programming is not None:
            raise operation_failed(
                FailureCode(behaviour.fail_programming),
                f"the simulated card answers {behaviour.fail_programming}",
            )
        self._show(behaviour.read_back or image.info.afu_id or "f" * 32)

    def _show(self, afu_id: str) -> None:
        path = _port_folder(self._host_root, self._card, self._region) / "afu_id"
        spare = control_path(self._host_root, self._card.id).with_suffix(".afu_id")
        try:
            spare.write_text(afu_id + "\n", encoding="ascii")
            spare.replace(path)
        except OSError as error:
            raise _missing(self._card) from error

    def __enter__(self) -> "SimulatedRegion":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.close()


def _take_time(seconds: float, progress: Progress, deadline: float) -> None:
    started = time.monotonic()
    while (elapsed := time.monotonic() - started) < seconds:
        if started + elapsed >= deadline:
            raise operation_failed(
                FailureCode.PROGRAMMING_TIMEOUT,
                f"the simulated card was not done after {elapsed:.1f} s",
            )
        progress(elapsed / seconds)
        time.sleep(min(_TICK_SECONDS, seconds - elapsed))


def _lock_of(host_root: Path, card_id: str) -> BinaryIO:
    return control_path(host_root, card_id).with_suffix(".lock").open("ab")


def _port_folder(host_root: Path, card: Card, region: Region) -> Path:
    ports = (host_root / "sys/bus/pci/devices" / card.id).glob("fpga_region/*/dfl-port.*")
    for port in sorted(ports):
        if _port_number(port) == region.index:
            return port
    raise _missing(card)


def _port_number(port: Path) -> int | None:
    try:
        return int((port / "id").read_text().strip("\0 \n"), 0)
    except (OSError, ValueError):
        return None


def _missing(card: Card) -> OperationFailed:
    return operation_failed(FailureCode.CARD_MISSING, f"card {card.id} is gone")
