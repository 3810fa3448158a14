"""Overview and system state of the REST API."""

from pydantic import Field

from fpga_common.contract.base import Answer, Timestamp
from fpga_common.contract.loads import Load


class Overview(Answer):
    """Counts for a first glance; ``by`` maps use the states' own words."""

    generated_at: Timestamp
    nodes: int
    nodes_stale: int
    cards: int
    devices: int
    devices_by_health: dict[str, int] = Field(default_factory=dict)
    devices_by_state: dict[str, int] = Field(default_factory=dict)
    devices_held: int
    devices_drifted: int
    loads_by_state: dict[str, int] = Field(default_factory=dict)
    recent_loads: list[Load] = Field(default_factory=list)


class ComponentState(Answer):
    """Whether something the manager needs answers."""

    name: str
    ok: bool
    detail: str = ""


class System(Answer):
    """Versions and what is reachable."""

    version: str
    components: list[ComponentState] = Field(default_factory=list)
