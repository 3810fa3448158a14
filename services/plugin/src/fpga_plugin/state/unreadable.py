"""What is damaged in the state folder is moved out of the way, and said.

A plugin that ended over a damaged file would end again after each restart, and with it every card
of the node. The file stays beside its old place, for whoever wants to know what happened.
"""

import os
import time
from pathlib import Path
from typing import Final

from fpga_common.observability.logging import get_logger
from fpga_plugin.state.durable import private_folder

NONSENSE: Final = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What reading a damaged document raises, whatever is wrong with it."""

log = get_logger(__name__)


def set_aside(path: Path, reason: str) -> Path | None:
    """Rename ``path`` to a name that nobody reads; returns that, None where it cannot be moved."""
    aside = path.with_name(f"{path.name}.unreadable-{int(time.time())}")
    try:
        path.rename(aside)
    except OSError as error:
        log.warning("state_not_set_aside", path=str(path), reason=reason, error=str(error))
        return None
    log.error("state_unreadable", path=str(path), moved_to=str(aside), reason=reason)
    return aside


def folder_in(state_dir: Path, *names: str) -> Path:
    """A folder below the state folder, made where absent; what else has its name is set aside.

    Raises OSError.
    """
    folder = private_folder(state_dir)
    for name in names:
        folder = folder / name
        if os.path.lexists(folder) and not folder.is_dir():
            set_aside(folder, "it is no folder")
        private_folder(folder)
    return folder
