"""Several pools on one node: a server and a registration each, no region twice."""

from fpga_common.domain.names import DEFAULT_RESOURCE
from fpga_common.testing.kubelet import FakeKubelet
from fpga_plugin.settings import PoolSettings

from .conftest import MakeSide


def test_two_pools_register_apart_and_share_no_region(
    kubelet: FakeKubelet, make_side: MakeSide
) -> None:
    kubelet.start()
    make_side(pools=(PoolSettings(), PoolSettings(name="other")))
    kubelet.wait_for_resource(DEFAULT_RESOURCE, capacity=2)
    kubelet.wait_for_resource("fpga-platform.io/other", capacity=0)
