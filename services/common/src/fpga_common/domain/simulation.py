"""How simulated cards are told to behave: one JSON file a card below the host root.

``fpga-sim`` writes it, the ``simulated`` programmer of the node plugin reads it before each write.
The file is ``<host root>/.fpga-sim/<card id>.json``; a host root with that folder is simulated.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from fpga_common.domain.errors import Permanent

CONTROL_FOLDER: Final = ".fpga-sim"


class InvalidSimulation(Permanent):
    """A control file that cannot be understood."""

    code = "invalid_simulation"


@dataclass(frozen=True, slots=True)
class SimulatedBehaviour:
    """How one simulated card answers a programming.

    ``fail_programming`` is a ``FailureCode`` value or None; ``read_back`` replaces the AFU id that
    shows after the write, to simulate a mismatch.
    """

    programming_seconds: float = 2.0
    fail_programming: str | None = None
    read_back: str | None = None


def control_path(host_root: Path, card_id: str) -> Path:
    """Where a card's control file is."""
    return host_root / CONTROL_FOLDER / f"{card_id}.json"


def is_simulated(host_root: Path) -> bool:
    """Whether the tree below ``host_root`` belongs to simulated hardware."""
    return (host_root / CONTROL_FOLDER).is_dir()


def read_behaviour(host_root: Path, card_id: str) -> SimulatedBehaviour:
    """Read a card's control file; a missing file gives the defaults. Raises InvalidSimulation."""
    path = control_path(host_root, card_id)
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return SimulatedBehaviour(**values)
    except FileNotFoundError:
        return SimulatedBehaviour()
    except (ValueError, TypeError) as error:
        raise InvalidSimulation(f"{path}: {error}") from error


def write_behaviour(host_root: Path, card_id: str, behaviour: SimulatedBehaviour) -> None:
    """Write a card's control file in one step."""
    path = control_path(host_root, card_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(asdict(behaviour), indent=2), encoding="utf-8")
    temporary.replace(path)
