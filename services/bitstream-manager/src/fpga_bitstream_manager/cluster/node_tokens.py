"""Knows nodes by their plugins' service-account tokens: ``fpga_bitstream_manager.access.nodes``.

Only the plugin's own service account speaks for nodes: any pod may mint a token of its own
account with our audience, and such a token names the pod's node as well.
"""

import hashlib
import threading
import time
from collections import OrderedDict
from typing import Final

from fpga_bitstream_manager.cluster.protocol import Cluster, TokenOwner
from fpga_common.domain.names import TOKEN_AUDIENCE

REMEMBERED_SECONDS: Final = 30.0
REMEMBERED: Final = 10_000


class ClusterNodeTokens:
    """``plugin_account`` is ``<namespace>/<service account>`` of the plugin's pods."""

    def __init__(self, cluster: Cluster, plugin_account: str) -> None:
        namespace, _, account = plugin_account.partition("/")
        self._username = f"system:serviceaccount:{namespace}:{account}"
        self._cluster = cluster
        self._known: OrderedDict[str, tuple[float, str | None]] = OrderedDict()
        self._lock = threading.Lock()

    def node_of(self, token: str) -> str | None:
        """The node that ``token`` belongs to, None for any other token.

        Raises ClusterUnavailable, ClusterRefused.
        """
        key = hashlib.sha256(token.encode()).hexdigest()
        with self._lock:
            until, node = self._known.get(key, (0.0, None))
        if time.monotonic() < until:
            return node
        node = self._ask(token)
        self._remember(key, node)
        return node

    def _ask(self, token: str) -> str | None:
        owner = self._cluster.review_token(token, TOKEN_AUDIENCE)
        if owner is None or owner.username != self._username:
            return None
        return owner.node or self._node_of_pod(owner)

    def _node_of_pod(self, owner: TokenOwner) -> str | None:
        if owner.pod is None or owner.namespace is None:
            return None
        pod = self._cluster.pod(owner.namespace, owner.pod)
        return pod.node if pod else None

    def _remember(self, key: str, node: str | None) -> None:
        with self._lock:
            self._known[key] = (time.monotonic() + REMEMBERED_SECONDS, node)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
