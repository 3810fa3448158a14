"""Keeps the labels of reporting nodes current. Called by ``cluster_round``.

A node is looked at when one of its devices changed, and every few minutes because others may have
changed its labels. A node that is not heard of any more keeps what it has.
"""

import time
from collections.abc import Collection, Sequence
from typing import Final

from fpga_bitstream_manager.cluster import Cluster, ClusterRefused
from fpga_bitstream_manager.cluster.devices import ReportedDevice
from fpga_bitstream_manager.cluster.labels import difference, labels_of
from fpga_bitstream_manager.ledger import Ledger
from fpga_bitstream_manager.reconciler.cluster_views import devices_by_node, reporting_nodes
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

LOOK_AGAIN_SECONDS: Final = 300.0
LOOK_FOR_UNKNOWN_SECONDS: Final = 30.0
_NODES_AT_A_TIME: Final = 100


class NodeLabels:
    """Remembers what each node was told, so that the API server is asked only where it helps."""

    def __init__(self, ledger: Ledger, cluster: Cluster) -> None:
        self._ledger = ledger
        self._cluster = cluster
        self._told: dict[str, dict[str, str]] = {}
        self._look_at: dict[str, float] = {}
        self._changed: set[str] = set()
        self._puzzling: dict[str, str] = {}

    def note_changed(self, nodes: Collection[str]) -> None:
        """Look at these nodes in the next ``update``."""
        self._changed.update(nodes)

    def update(self, deadline: float) -> None:
        """Label every node that needs it until ``deadline`` (monotonic seconds); the rest later.

        Raises LedgerUnavailable, ClusterUnavailable, and ClusterRefused where the right is missing.
        """
        due = self._due()
        for start in range(0, len(due), _NODES_AT_A_TIME):
            names = due[start : start + _NODES_AT_A_TIME]
            with self._ledger.reading() as session:
                devices = devices_by_node(session, names)
            for node in names:
                if time.monotonic() >= deadline:
                    return
                self._update_one(node, devices[node])

    def _due(self) -> list[str]:
        with self._ledger.reading() as session:
            reporting = reporting_nodes(session)
        self._changed.intersection_update(reporting)
        rest = [node for node in reporting if node not in self._changed and self._is_due(node)]
        return sorted(self._changed) + rest

    def _is_due(self, node: str) -> bool:
        return time.monotonic() >= self._look_at.get(node, 0.0)

    def _update_one(self, node: str, devices: Sequence[ReportedDevice]) -> None:
        wanted = labels_of(devices)
        if self._is_due(node) or self._told.get(node) != wanted:
            self._label(node, wanted)
        self._changed.discard(node)

    def _label(self, node: str, wanted: dict[str, str]) -> None:
        """A node that cannot be labelled is left for a while; only a missing right is for all."""
        self._told.pop(node, None)
        try:
            pause = self._ask(node, wanted)
        except ClusterRefused as refused:
            if refused.lacks_right:
                raise
            self._say_once("node_labels_refused", node, refused.message)
            pause = LOOK_AGAIN_SECONDS
        self._look_at[node] = time.monotonic() + pause

    def _ask(self, node: str, wanted: dict[str, str]) -> float:
        """Make the labels right; returns the seconds until the next look."""
        present = self._cluster.node_labels(node)
        if present is None:
            self._say_once("node_unknown_to_cluster", node, "the API server has no such node")
            return LOOK_FOR_UNKNOWN_SECONDS
        patch = difference(present, wanted)
        if patch:
            self._cluster.label_node(node, patch)
            log.info("node_labelled", node=node, labels=patch)
        self._told[node] = wanted
        self._puzzling.pop(node, None)
        return LOOK_AGAIN_SECONDS

    def _say_once(self, what: str, node: str, reason: str) -> None:
        if self._puzzling.get(node) != what:
            self._puzzling[node] = what
            log.warning(what, node=node, reason=reason)
