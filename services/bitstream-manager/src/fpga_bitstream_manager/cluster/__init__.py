"""The Kubernetes API as the manager uses it: six calls, nothing more. Off unless it is enabled.

``Cluster`` is the protocol; ``open_cluster`` gives the one over the official client, whose import
takes two seconds and 130 MiB and happens there alone.
"""

from fpga_bitstream_manager.cluster.protocol import (
    Access,
    Cluster,
    ClusterRefused,
    ClusterUnavailable,
    Notice,
    Pod,
    TokenOwner,
)
from fpga_bitstream_manager.settings import KubernetesSettings

__all__ = [
    "Access",
    "Cluster",
    "ClusterRefused",
    "ClusterUnavailable",
    "Notice",
    "Pod",
    "TokenOwner",
    "open_cluster",
]


def open_cluster(settings: KubernetesSettings) -> Cluster:
    """The cluster of the settings; connects when first used. Raises InvalidConfiguration."""
    from fpga_bitstream_manager.cluster.kubernetes_api import KubernetesCluster, api_client

    return KubernetesCluster(api_client(settings))
