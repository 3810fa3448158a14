"""The node plugin: start, registration, allocation, memory, faults, kubelet restarts."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc

from bench.figures import Figure, median, percentile
from bench.product import installed_plugin
from fpga_common.domain.names import DEFAULT_RESOURCE
from fpga_common.testing.platform import SimulatedNode
from fpga_common.testing.platform.layout import Layout, console_script
from fpga_common.testing.waiting import wait_for
from fpga_common.wire.kubelet.deviceplugin.v1beta1 import deviceplugin_pb2 as pb
from fpga_common.wire.kubelet.deviceplugin.v1beta1.deviceplugin_pb2_grpc import DevicePluginStub

CARDS = 8
ALLOCATIONS = 3000
ROUNDS = 5


@contextmanager
def simulated_node() -> Iterator[SimulatedNode]:
    """A node of eight cards without manager; its plugin is not started yet."""
    folder = Path(tempfile.mkdtemp(prefix="fpb"))
    layout = Layout(folder)
    _bootstrap(layout, "bench")
    node = SimulatedNode(
        layout,
        "bench",
        sockets=folder / "s",
        profiles=("pac-a10",) * CARDS,
        plugin_command=installed_plugin(),
    )
    try:
        node.kubelet.start()
        yield node
    finally:
        node.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _bootstrap(layout: Layout, node: str) -> None:
    command = [console_script("fpga-bitstream-manager"), "bootstrap", "--node", node]
    directory = ["--directory", str(layout.credentials)]
    subprocess.run([*command, *directory], check=True, capture_output=True, timeout=60)


def measure() -> list[Figure]:
    """Every figure of the node plugin."""
    with simulated_node() as node:
        starts = [_start(node) for _ in range(ROUNDS)]
        figures = [median("process start → devices at the kubelet", starts, "s", 1.5)]
        figures.append(_register_to_list(node))
        figures += _allocations(node)
        figures.append(_memory(node))
        figures.append(median("fault → Unhealthy at the kubelet", _faults(node), "s", 1.5))
        restarts = [_kubelet_restart(node) for _ in range(ROUNDS)]
        figures.append(median("kubelet restart → devices at the kubelet", restarts, "s", 0.3))
        return figures


def _start(node: SimulatedNode) -> float:
    if node.plugin is not None:
        node.stop_plugin()
        _wait_allocatable(node, 0)
    started = time.monotonic()
    node.start_plugin()
    _wait_allocatable(node, CARDS)
    return time.monotonic() - started


def _wait_allocatable(node: SimulatedNode, count: int) -> None:
    wait_for(
        lambda: node.allocatable() == count,
        timeout=30,
        interval=0.002,
        what=f"{count} allocatable devices",
    )


def _register_to_list(node: SimulatedNode) -> Figure:
    samples = []
    for _ in range(ROUNDS):
        _kubelet_restart(node)
        samples += [
            (first_list - called) * 1000
            for called, first_list in node.kubelet.registration_times(DEFAULT_RESOURCE)
        ]
    return median("Register called → first device list", samples, "ms", 30)


def _allocations(node: SimulatedNode) -> list[Figure]:
    (socket,) = (
        path
        for path in node.kubelet.device_plugin_dir.glob("*.sock")
        if path.name != "kubelet.sock"
    )
    devices = [card.region_id for card in node.host.cards]
    samples = []
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        stub = DevicePluginStub(channel)
        for number in range(ALLOCATIONS):
            request = pb.AllocateRequest(
                container_requests=[
                    pb.ContainerAllocateRequest(devices_ids=[devices[number % CARDS]])
                ]
            )
            started = time.perf_counter()
            stub.Allocate(request, timeout=5)
            samples.append((time.perf_counter() - started) * 1000)
    return [
        percentile("Allocate p50", samples, 0.50, "ms"),
        percentile("Allocate p99", samples, 0.99, "ms", 3),
    ]


def _memory(node: SimulatedNode) -> Figure:
    assert node.plugin is not None
    status = Path(f"/proc/{node.plugin.pid}/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return Figure(
        f"resident memory of the plugin with {CARDS} cards",
        int(line.split()[1]) / 1024,
        "MiB",
        56,
        1,
    )


def _faults(node: SimulatedNode) -> list[float]:
    samples = []
    for card in node.host.cards[:ROUNDS]:
        started = time.monotonic()
        card.overheat()
        _wait_allocatable(node, CARDS - 1)
        samples.append(time.monotonic() - started)
        card.heal()
        _wait_allocatable(node, CARDS)
    return samples


def _kubelet_restart(node: SimulatedNode) -> float:
    node.kubelet.stop()
    node.kubelet.start()
    started = time.monotonic()
    _wait_allocatable(node, CARDS)
    return time.monotonic() - started
