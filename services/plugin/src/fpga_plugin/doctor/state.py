"""Can state be kept, was any of it damaged, and which regions are kept from pods, and why?"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fpga_plugin.agent.reservations import Reserved, read_reserved
from fpga_plugin.doctor.finding import Finding, failed, ok, warning
from fpga_plugin.settings import PluginSettings
from fpga_plugin.state.unreadable import NONSENSE

LEAST_FREE_BYTES: Final = 64 << 20
"""Room for journals and a bitstream of some size."""

_FOLDER: Final = "state folder"
_RESERVATIONS: Final = "reservations"


def check_state(settings: PluginSettings) -> Iterator[Finding]:
    """The state folder, what was set aside in it, and every region that is kept back."""
    folder = settings.state_dir
    yield _folder(folder)
    for path in sorted(folder.rglob("*.unreadable-*")):
        advice = "look at it, then delete it; regions that count as quarantined for it say so below"
        yield warning(_FOLDER, f"{path} was damaged and set aside", advice)
    try:
        yield from _kept_back(read_reserved(folder))
    except (OSError, *NONSENSE) as error:
        advice = "fpga-plugin serve sets it aside at its next start and quarantines every region"
        yield failed(_RESERVATIONS, f"{folder}/reservations.json is damaged: {error}", advice)


def _folder(folder: Path) -> Finding:
    if not folder.is_dir():
        return failed(
            _FOLDER, f"{folder} is not there", "fpga-plugin serve makes it; is it mounted?"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        return failed(
            _FOLDER, f"{folder} is not writable", "mount it writable for the plugin's user"
        )
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE_BYTES:
        message = f"{folder} has {free >> 20} MiB free, expected at least {LEAST_FREE_BYTES >> 20}"
        return failed(_FOLDER, message, "nothing can be programmed or remembered: make room")
    return ok(_FOLDER, str(folder))


def _kept_back(reserved: Reserved) -> Iterator[Finding]:
    for region_id, operation in reserved.programming.items():
        yield ok(f"region {region_id}", f"is being programmed by operation {operation}")
    for reason in reserved.lost.values():
        cleared = ", ".join(reserved.cleared) or "none"
        yield warning(_RESERVATIONS, f"{reason}; regions cleared since: {cleared}", _CLEAR)
    for region_id, reason in reserved.quarantined.items():
        yield warning(f"region {region_id}", f"quarantined: {reason}", _CLEAR)
    for region_id, reason in reserved.cordoned.items():
        yield warning(f"region {region_id}", f"cordoned: {reason or 'no reason given'}")


_CLEAR: Final = "no pod gets it until a load of it succeeds or an administrator clears it"
