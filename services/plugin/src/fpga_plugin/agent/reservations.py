"""Regions that may not be handed out now, and why: programming, cordoned, quarantined.

Kept in ``<state_dir>/reservations.json``. The inventory store puts ``apply`` over every card it
reads; whoever changes a reservation calls the store's ``touch`` afterwards.
"""

import json
import threading
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from fpga_common.domain.card import Card, Region, RegionState
from fpga_common.observability.logging import get_logger
from fpga_plugin.state.durable import private_folder, replace_durably
from fpga_plugin.state.unreadable import NONSENSE, set_aside

LOST: Final = "lost"
"""The key of ``Reserved.lost`` under which a damaged file is recorded."""

_FILE: Final = "reservations.json"

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reserved:
    """Region ids with what reserved each: an operation id, a reason, a reason.

    ``lost`` is not empty once the file was damaged: nothing may be handed out on a guess, so that
    every region that takes AFUs counts as quarantined, for the reason there, until it is in
    ``cleared``.
    """

    programming: dict[str, str] = field(default_factory=dict)
    cordoned: dict[str, str] = field(default_factory=dict)
    quarantined: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    cleared: dict[str, str] = field(default_factory=dict)

    def why_quarantined(self, region: Region) -> str | None:
        """The reason, None where it is not."""
        if region.id in self.quarantined:
            return self.quarantined[region.id]
        if region.id in self.cleared or region.state is RegionState.STATIC:
            return None
        return self.lost.get(LOST)


class Reservations:
    """The node's reservations; every change is on the disk when its method returns.

    Methods that take a region away for somebody raise OSError when the disk does not take it; a
    quarantine and a release hold in any case.
    """

    def __init__(self, state_dir: Path) -> None:
        self._path = private_folder(state_dir) / _FILE
        self._lock = threading.Lock()
        self._reserved = Reserved()
        loaded = _load(self._path)
        if loaded is not None:
            self._reserved = loaded
        else:
            reason = f"the reservations of this node were lost: {_FILE} was damaged"
            self._hold(Reserved(lost={LOST: reason}))

    def reserved(self) -> Reserved:
        """All of them now."""
        return self._reserved

    def apply(self, card: Card) -> Card:
        """The card with the states of its regions as reserved. Called by the inventory store."""
        reserved = self._reserved
        regions = tuple(overlaid(region, reserved) for region in card.regions)
        return card if regions == card.regions else replace(card, regions=regions)

    def reserve_for_programming(self, region_id: str, operation_id: str) -> None:
        """Take a region away from the kubelet until ``release``."""
        with self._lock:
            reserved = self._reserved
            self._store(
                replace(reserved, programming={**reserved.programming, region_id: operation_id})
            )

    def release(self, region_id: str) -> None:
        """Undo ``reserve_for_programming``."""
        with self._lock:
            reserved = self._reserved
            self._hold(replace(reserved, programming=_without(reserved.programming, region_id)))

    def quarantine(self, region_id: str, reason: str) -> None:
        """Hand a region out no more until a load succeeds or an administrator clears it."""
        with self._lock:
            reserved = self._reserved
            self._hold(replace(reserved, quarantined={**reserved.quarantined, region_id: reason}))

    def clear(self, region_id: str) -> None:
        """Undo ``quarantine``."""
        with self._lock:
            reserved = self._reserved
            cleared = {**reserved.cleared, region_id: ""} if reserved.lost else {}
            quarantined = _without(reserved.quarantined, region_id)
            self._store(replace(reserved, quarantined=quarantined, cleared=cleared))

    def cordon(self, region_id: str, reason: str) -> None:
        """Hand a region out no more until ``uncordon``, for an administrator's reason."""
        with self._lock:
            reserved = self._reserved
            self._store(replace(reserved, cordoned={**reserved.cordoned, region_id: reason}))

    def uncordon(self, region_id: str) -> None:
        """Undo ``cordon``."""
        with self._lock:
            reserved = self._reserved
            self._store(replace(reserved, cordoned=_without(reserved.cordoned, region_id)))

    def _hold(self, reserved: Reserved) -> None:
        """Change what is in force even where the disk is full: the process knows best."""
        try:
            self._store(reserved)
        except OSError:
            log.exception("reservations_not_stored", path=str(self._path))
            self._reserved = reserved

    def _store(self, reserved: Reserved) -> None:
        if reserved == self._reserved:
            return
        replace_durably(self._path, json.dumps(asdict(reserved), indent=2).encode())
        self._reserved = reserved


def overlaid(region: Region, reserved: Reserved) -> Region:
    """One region with its reservation: what is gone stays missing, programming hides faults."""
    if region.state is RegionState.MISSING:
        return region
    if region.id in reserved.programming:
        return replace(
            region,
            state=RegionState.RESERVED,
            reason=f"programming: operation {reserved.programming[region.id]}",
        )
    if region.state is RegionState.UNUSABLE:
        return region
    quarantined = reserved.why_quarantined(region)
    if quarantined is not None:
        return replace(region, state=RegionState.QUARANTINED, reason=quarantined)
    if region.id in reserved.cordoned:
        reason = reserved.cordoned[region.id]
        return replace(
            region,
            state=RegionState.RESERVED,
            reason=f"cordoned: {reason}" if reason else "cordoned",
        )
    return region


def _without(entries: dict[str, str], region_id: str) -> dict[str, str]:
    return {key: value for key, value in entries.items() if key != region_id}


def read_reserved(state_dir: Path) -> Reserved:
    """What the file says, nothing without one. Raises OSError or NONSENSE where it is damaged."""
    try:
        return _reserved_of(json.loads((state_dir / _FILE).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Reserved()


def _load(path: Path) -> Reserved | None:
    """None where the file is damaged, and then set aside."""
    try:
        return read_reserved(path.parent)
    except (OSError, *NONSENSE) as error:
        set_aside(path, str(error))
        return None


def _reserved_of(document: Any) -> Reserved:
    """Raises NONSENSE where the document is not what ``_store`` writes."""
    reserved = Reserved(**document)
    for each in fields(reserved):
        entries = getattr(reserved, each.name)
        if not all(isinstance(text, str) for pair in entries.items() for text in pair):
            raise TypeError(f"{each.name}: {entries!r}")
    return reserved
