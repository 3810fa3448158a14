"""What the settings of servers share: how they are read, and the parts that every server has.

Needs the extra ``server``; the node plugin, which has no pydantic, reads its settings by itself.
"""

from fpga_common.settings.reading import ServiceSettings, load
from fpga_common.settings.sections import (
    Address,
    LogSettings,
    MetricsSettings,
    OptionalAddress,
    Section,
)

__all__ = [
    "Address",
    "LogSettings",
    "MetricsSettings",
    "OptionalAddress",
    "Section",
    "ServiceSettings",
    "load",
]
