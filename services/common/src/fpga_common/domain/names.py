"""Names that more than one component uses: domain, environment, ports."""

from typing import Final

RESOURCE_DOMAIN: Final = "fpga-platform.io"
DEFAULT_POOL: Final = "fpga"
DEFAULT_RESOURCE: Final = f"{RESOURCE_DOMAIN}/{DEFAULT_POOL}"

AFU_ANNOTATION: Final = "fpga-platform.io/afu"

TOKEN_AUDIENCE: Final = "fpga-platform"  # noqa: S105

API_PORT: Final = 8443
API_PLAIN_PORT: Final = 8080
WEB_PORT: Final = 8000
AGENT_PORT: Final = 9444
METRICS_PORT: Final = 9100

ENV_DEVICE_IDS: Final = "FPGA_DEVICE_IDS"
ENV_PCI_ADDRESSES: Final = "FPGA_PCI_ADDRESSES"
ENV_DEVICE_NODES: Final = "FPGA_DEVICE_NODES"
ENV_AFU_IDS: Final = "FPGA_AFU_IDS"
ENV_INTERFACE_IDS: Final = "FPGA_INTERFACE_IDS"
ENV_NUMA_NODES: Final = "FPGA_NUMA_NODES"

STALE_AFTER_SECONDS: Final = 90.0
REPORT_EVERY_SECONDS: Final = 30.0
