"""Loads through the whole platform: API, ledger, queue, worker, agent."""

import time
from io import BytesIO

from bench.figures import Figure, median, percentile
from fpga_common.client import ManagerClient
from fpga_common.contract.loads import LoadCreate, LoadTarget
from fpga_common.domain.load import LoadState
from fpga_common.testing.platform import LocalPlatform
from fpga_common.testing.sim import make_gbs

AFU_IDS = ("1" * 31 + "0", "2" * 31 + "0")
LOADS = 40


def measure() -> list[Figure]:
    """POST → succeeded, with programming that takes no time."""
    platform = LocalPlatform(nodes=["bench"], programming_seconds=0.0, with_web=False)
    with platform, platform.client() as client:
        card = platform.nodes["bench"].host.cards[0]
        names = []
        for number, afu_id in enumerate(AFU_IDS):
            content = make_gbs(card.interface_id, afu_id, name=f"bench{number}")
            names.append(client.upload_bitstream(BytesIO(content), name=f"bench{number}").name)
        target = LoadTarget(node="bench", device=card.region_id)
        _load(client, names[1], target)
        samples = [_load(client, names[number % 2], target) for number in range(LOADS)]
    return [
        median("POST load → succeeded, 0 s of programming", samples, "s", 0.3),
        percentile("POST load → succeeded, p95", samples, 0.95, "s"),
    ]


def _load(client: ManagerClient, name: str, target: LoadTarget) -> float:
    started = time.monotonic()
    load = client.create_load(LoadCreate(bitstream=name, target=target))
    for message in client.watch_load(load.id):
        load = message.load
    seconds = time.monotonic() - started
    if load.state is not LoadState.SUCCEEDED:
        raise AssertionError(f"load {load.id} ended {load.state}: {load.error}")
    return seconds
