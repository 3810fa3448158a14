"""What the devices page was asked for: filters, order and page, as they stand in the address."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus

SORTS: Final = ("health", "device", "node", "model", "afu", "state", "holder", "temperature")
DEFAULT_SORT: Final = "health"
_HELD: Final = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class DeviceQuery:
    """Filters are empty where they do not apply; ``sort`` begins with ``-`` for descending."""

    text: str = ""
    health: str = ""
    state: str = ""
    node: str = ""
    held: str = ""
    sort: str = DEFAULT_SORT
    page: int = 1

    @classmethod
    def parse(cls, arguments: Mapping[str, str]) -> "DeviceQuery":
        """Read an address; what is not understood there does not apply."""
        return cls(
            text=arguments.get("q", "").strip()[:100],
            health=_one_of(arguments.get("health"), set(HealthStatus)),
            state=_one_of(arguments.get("state"), set(RegionState)),
            node=arguments.get("node", "").strip()[:253],
            held=_one_of(arguments.get("held"), set(_HELD)),
            sort=_sort(arguments.get("sort", "")),
            page=_page(arguments.get("page", "")),
        )

    def arguments(self) -> dict[str, str]:
        """The address's parameters, without those that do not apply."""
        found = {
            "q": self.text,
            "health": self.health,
            "state": self.state,
            "node": self.node,
            "held": self.held,
            "sort": self.sort if self.sort != DEFAULT_SORT else "",
            "page": str(self.page) if self.page > 1 else "",
        }
        return {name: value for name, value in found.items() if value}

    @property
    def filtered(self) -> bool:
        """Whether any filter applies."""
        return bool(self.text or self.health or self.state or self.node or self.held)

    @property
    def manager_filters(self) -> dict[str, str | bool | None]:
        """What the manager filters by itself."""
        return {
            "health": self.health or None,
            "state": self.state or None,
            "node": self.node or None,
            "held": _HELD.get(self.held),
        }

    def words(self) -> str:
        """The filters as a phrase: ``health unhealthy, node sim-a``."""
        parts = [f"{name} {value}" for name, value in self._named()]
        return ", ".join(parts)

    def with_health(self, health: str) -> "DeviceQuery":
        """The same with another health, from its first page."""
        return replace(self, health=health, page=1)

    def with_page(self, page: int) -> "DeviceQuery":
        """Another page of the same."""
        return replace(self, page=page)

    def sorted_by(self, key: str) -> "DeviceQuery":
        """The same in another order; asking again for the present one turns it round."""
        return replace(self, sort=f"-{key}" if self.sort == key else key, page=1)

    def without_filters(self) -> "DeviceQuery":
        """Everything, in the same order."""
        return DeviceQuery(sort=self.sort)

    def _named(self) -> list[tuple[str, str]]:
        found = [
            ("text", f"“{self.text}”" if self.text else ""),
            ("health", self.health),
            ("state", self.state),
            ("node", self.node),
            ("held", self.held),
        ]
        return [(name, value) for name, value in found if value]


def _one_of(value: str | None, allowed: set[str] | set[HealthStatus] | set[RegionState]) -> str:
    return value if value is not None and value in allowed else ""


def _sort(value: str) -> str:
    return value if value.removeprefix("-") in SORTS else DEFAULT_SORT


def _page(value: str) -> int:
    return min(int(value), 10_000) if value.isascii() and value.isdigit() and int(value) else 1
