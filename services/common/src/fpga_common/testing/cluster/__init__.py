"""A small cluster for tests and demo: the Kubernetes API calls of the manager over real HTTP."""

from fpga_common.testing.cluster.fake import FakeCluster
from fpga_common.testing.cluster.state import FakeNode, FakePod, FakeToken

__all__ = ["FakeCluster", "FakeNode", "FakePod", "FakeToken"]
