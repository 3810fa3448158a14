"""Reports of nodes, made small by hand."""

from datetime import UTC, datetime
from typing import Any

from fpga_common.contract.inventory import InventoryDocument
from fpga_common.contract.report import AgentEndpoint, Holder, NodeReport, PoolReport

INTERFACE = "a5d72a3cc8b04939912cf715e5dc10ca"
AFU = "9aeffe5f84570612c000c9660d824272"
OTHER_AFU = "d8424dc4a4a3c413f89e433683f9040b"
SINCE = 1_790_000_000.0


def verdict(status: str = "healthy") -> dict[str, Any]:
    return {"status": status, "since": SINCE, "reasons": []}


def card(slot: str = "0000:3b:00", *, afu: str = AFU, **changes: Any) -> dict[str, Any]:
    address = f"{slot}.0"
    region = {
        "id": f"{address}-r0",
        "interface_id": INTERFACE,
        "afu_id": afu,
        "state": "ready",
        "reason": "",
        "device_nodes": ["/dev/dfl-port.0"],
        "health": verdict(),
    }
    document: dict[str, Any] = {
        "id": address,
        "backend": "dfl",
        "model": "Intel FPGA PAC N3000",
        "pci": {"address": address, "vendor": "8086", "device": "0b30", "class": "120000"},
        "numa_node": 0,
        "health": verdict(),
        "regions": [region],
        "sensors": {"temperature_celsius": 41.5},
    }
    return document | changes


def report(
    node: str,
    *cards: dict[str, Any],
    digest: str = "one",
    holders: tuple[Holder, ...] = (),
) -> NodeReport:
    inventory = InventoryDocument.model_validate({"cards": list(cards)})
    return NodeReport(
        node=node,
        digest=digest,
        reported_at=datetime.now(UTC),
        agent=AgentEndpoint(address="127.0.0.1:9444", certificate_pem="PEM"),
        inventory=inventory,
        holders=list(holders),
        pools=[
            PoolReport(resource="fpga-platform.io/fpga", devices=[], healthy=1, registered=True)
        ],
    )


def holder(device: str, pod: str = "web-0", *, source: Any = "podresources") -> Holder:
    return Holder(
        device=device,
        source=source,
        namespace="default",
        pod=pod,
        container="main",
        resource="fpga-platform.io/fpga",
        since=datetime.fromtimestamp(SINCE, UTC),
    )
