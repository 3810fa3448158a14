"""The kubelet's side of the plugin: one device plugin a pool, and who holds what.

``serve`` starts KubeletSide; agent, report and metrics ask its ``holders`` and ``pool_reports``.
"""

from fpga_plugin.kubelet.holders import Holders
from fpga_plugin.kubelet.holding import DeviceHolder
from fpga_plugin.kubelet.podresources import PodResourcesUnavailable
from fpga_plugin.kubelet.side import KubeletSide

__all__ = ["DeviceHolder", "Holders", "KubeletSide", "PodResourcesUnavailable"]
