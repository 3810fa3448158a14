"""The kubelet side of a node without a kubelet: nothing is handed out, so nobody holds anything."""

from collections.abc import Callable
from typing import Any


class NoHolders:
    """Holders where no pods are."""

    on_change: Callable[[], None] | None = None

    def current(self) -> tuple[()]:
        """Nobody."""
        return ()

    def fresh_holder(self, device_id: str, deadline: float) -> None:
        """Nobody."""
        del device_id, deadline

    def withdrawn(self, device_id: str, deadline: float) -> bool:
        """There is nobody who could give the device away."""
        del device_id, deadline
        return True


class NoKubelet:
    """Stands in for ``kubelet.KubeletSide`` when ``kubelet.enabled`` is false."""

    def __init__(self) -> None:
        self.holders = NoHolders()

    def start(self) -> None:
        """Nothing to register with."""

    def stop(self) -> None:
        """Nothing to end."""

    def pool_reports(self) -> list[dict[str, Any]]:
        """No extended resources."""
        return []
