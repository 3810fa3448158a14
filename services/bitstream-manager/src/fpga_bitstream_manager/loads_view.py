"""What bitstreams, nodes and overview need to know of loads, without importing them.

``fpga_bitstream_manager.loads.view`` implements it; ``Services.open`` brings both together.
"""

from collections.abc import Collection
from typing import Protocol

from sqlalchemy.orm import Session

from fpga_common.contract.loads import Load
from fpga_common.contract.nodes import LoadRef

DeviceKey = tuple[str, str]


class LoadsView(Protocol):
    """Questions about loads, answered inside the caller's session."""

    def open_load_of_bitstream(self, session: Session, digest: str) -> str | None:
        """The id of an open load of this bitstream, None where there is none."""

    def open_loads_of_devices(
        self, session: Session, devices: Collection[DeviceKey]
    ) -> dict[DeviceKey, LoadRef]:
        """The open load that is furthest, for each (node, device) that has one."""

    def counts_by_state(self, session: Session) -> dict[str, int]:
        """How many loads are in each state; states without loads may be missing."""

    def recent(self, session: Session, limit: int) -> list[Load]:
        """The newest loads, newest first."""


class NoLoads:
    """The view of a manager that has no loads."""

    def open_load_of_bitstream(self, session: Session, digest: str) -> str | None:
        """None."""
        return None

    def open_loads_of_devices(
        self, session: Session, devices: Collection[DeviceKey]
    ) -> dict[DeviceKey, LoadRef]:
        """Nothing."""
        return {}

    def counts_by_state(self, session: Session) -> dict[str, int]:
        """Nothing."""
        return {}

    def recent(self, session: Session, limit: int) -> list[Load]:
        """Nothing."""
        return []
