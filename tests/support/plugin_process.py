"""The real ``fpga-plugin serve`` on a simulated host below a short folder."""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import httpx2 as httpx

from fpga_common.testing.processes import Process
from fpga_common.testing.sim import SimulatedHost
from fpga_common.testing.waiting import free_port, listening, wait_for
from fpga_common.wire.agent.v1 import agent_pb2_grpc

NODE = "sim-a"
START_SECONDS = 40.0


@dataclass
class PluginProcess:
    """Settings and life of one plugin process; the agent serves loopback without TLS."""

    root: Path
    settings: dict[str, Any] = field(default_factory=dict)
    process: Process | None = None

    def __post_init__(self) -> None:
        self.host = SimulatedHost(self.root / "host")
        self.agent_port, self.metrics_port = free_port(), free_port()
        self.settings = {
            "node": NODE,
            "host_root": str(self.host.root),
            "state_dir": str(self.root / "state"),
            "kubelet": {"enabled": False},
            "agent": {"bind": f"127.0.0.1:{self.agent_port}"},
            "metrics": {"bind": f"127.0.0.1:{self.metrics_port}"},
            "health": {"interval_seconds": 0.2},
            **self.settings,
        }

    @property
    def state_dir(self) -> Path:
        """Its state folder."""
        return self.root / "state"

    @property
    def config(self) -> Path:
        """The file of settings: JSON is YAML."""
        path = self.root / "plugin.yaml"
        path.write_text(json.dumps(self.settings))
        return path

    def command(self, *arguments: str) -> list[str]:
        """An ``fpga-plugin`` command line."""
        return [sys.executable, "-m", "fpga_plugin.cli", *arguments, "--config", str(self.config)]

    def launch(self) -> Process:
        """Start it and return at once."""
        log = self.root / "plugin.log"
        self.process = Process("fpga-plugin", self.command("serve"), log=log)
        return self.process

    def start(self) -> Process:
        """Start it and wait until its agent listens."""
        process = self.launch()
        wait_for(self._listens, timeout=START_SECONDS, what="the agent's port")
        return process

    def _listens(self) -> bool:
        assert self.process is not None
        self.process.require_running()
        return listening(self.agent_port)

    @contextmanager
    def agent(self) -> Iterator[agent_pb2_grpc.NodeAgentStub]:
        """Its agent."""
        with grpc.insecure_channel(f"127.0.0.1:{self.agent_port}") as channel:
            yield agent_pb2_grpc.NodeAgentStub(channel)

    def get(self, path: str) -> str:
        """What its metrics port answers."""
        with httpx.Client(trust_env=False) as client:
            answer = client.get(f"http://127.0.0.1:{self.metrics_port}{path}", timeout=10.0)
        return answer.raise_for_status().text

    def events(self) -> list[str]:
        """The names of what it logged."""
        return [entry["event"] for entry in self.log_entries()]

    def log_entries(self) -> list[dict[str, Any]]:
        """What it logged."""
        lines = (self.root / "plugin.log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]


@contextmanager
def plugin_process(**settings: Any) -> Iterator[PluginProcess]:
    """A plugin that is not started yet; whatever it is, it has ended with the block."""
    root = Path(tempfile.mkdtemp(prefix="fp"))
    plugin = PluginProcess(root, settings)
    try:
        yield plugin
    finally:
        if plugin.process is not None:
            plugin.process.kill()
        shutil.rmtree(root)
