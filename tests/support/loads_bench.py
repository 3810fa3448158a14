"""A manager without its API: ledger, Redis, real worker and reconciler processes, one node."""

import json
import sys
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import TracebackType

from sqlalchemy import delete

from fpga_bitstream_manager.bootstrap.service import bootstrap
from fpga_bitstream_manager.ledger import (
    BitstreamNameRow,
    BitstreamRow,
    DeviceRow,
    HolderRow,
    Ledger,
    NodeRow,
)
from fpga_bitstream_manager.ledger.migration import migrate
from fpga_bitstream_manager.loads.service import LoadService
from fpga_bitstream_manager.memory import open_redis
from fpga_bitstream_manager.settings import ManagerSettings, load_settings
from fpga_bitstream_manager.tasks.opening import open_loads
from fpga_common.client.manager import ManagerClient
from fpga_common.contract.loads import Load, LoadCreate, LoadDetail, LoadTarget
from fpga_common.domain.load import LoadState
from fpga_common.testing.processes import Process
from fpga_common.testing.redis_server import RedisServer
from fpga_common.testing.waiting import free_port, wait_for
from support.node_agent_double import NodeAgentDouble

NODE = "sim-a"
CARD = "0000:3b:00.0"
DEVICE = "0000:3b:00.0-r0"
INTERFACE = "f64e598bea11517fa28e7bc65d885104"
OLD_AFU = "d8424dc4a4a3c413f89e433683f9040b"
NEW_AFU = "9aeffe5f84570612c000c9660d824272"
OTHER_AFU = "33333333333333333333333333333333"
SCRIPT = Path(sys.executable).parent / "fpga-bitstream-manager"


_READY_WORDS = {
    "api": '"api_started"',
    "worker": '"worker_ready"',
    "reconciler": '"reconciler_acts"',
}


def digest(letter: str) -> str:
    """A digest that is easy to read."""
    return "sha256:" + letter * 64


def add_bitstream(
    ledger: Ledger, name: str, letter: str, afu_id: str, interface_id: str = INTERFACE
) -> None:
    """A stored bitstream without bytes."""
    now = datetime.now(UTC)
    with ledger.transaction() as session:
        session.add(
            BitstreamRow(
                digest=digest(letter),
                name=name,
                version=None,
                format="gbs",
                size_bytes=4096,
                payload_offset=64,
                payload_size_bytes=4032,
                interface_id=interface_id,
                afu_id=afu_id,
                afu_name=None,
                clocks_mhz={},
                checks=[],
                uploaded_by="admin",
                uploaded_at=now,
            )
        )
        session.flush()
        session.add(BitstreamNameRow(name=name, version="", digest=digest(letter), pointed_at=now))


def add_node(
    ledger: Ledger, address: str | None, certificate: str | None, *, name: str = NODE
) -> None:
    """A node as it would report itself, with one ready region."""
    now = datetime.now(UTC)
    with ledger.transaction() as session:
        session.add(
            NodeRow(
                name=name,
                agent_address=address,
                agent_certificate=certificate,
                report_digest="1",
                first_seen_at=now,
                last_seen_at=now,
                stale=False,
                document={},
            )
        )
        session.flush()
        session.add(
            DeviceRow(
                node=name,
                id=DEVICE,
                card=CARD,
                backend="dfl",
                model="PAC",
                vendor_device=None,
                numa_node=0,
                interface_id=INTERFACE,
                afu_id=OLD_AFU,
                state="ready",
                reason="",
                health="healthy",
                cordoned=False,
                changed_at=now,
                document={},
            )
        )


def hold(ledger: Ledger, pod: str | None, *, node: str = NODE) -> None:
    """A pod, or with None nobody, holds the device, as the node would report."""
    with ledger.transaction() as session:
        session.execute(delete(HolderRow).where(HolderRow.node == node))
        if pod is not None:
            session.add(
                HolderRow(
                    node=node,
                    device=DEVICE,
                    source="podresources",
                    namespace="default",
                    pod=pod,
                    container="main",
                    resource="fpga-platform.io/fpga",
                    since=datetime.now(UTC),
                )
            )


class BenchNode:
    """One node of a bench with its own agent and one device; tests do not meet on it."""

    def __init__(self, bench: "LoadsBench", name: str) -> None:
        self.name = name
        self.bench = bench
        self.agent = NodeAgentDouble(name, bench.credentials).start()
        add_node(bench.ledger, self.agent.address, self.agent.certificate, name=name)

    def ask(self, bitstream: str = "new", **fields: object) -> Load:
        """Ask for a load of the device."""
        target = LoadTarget(node=self.name, device=DEVICE)
        asked = LoadCreate.model_validate({"bitstream": bitstream, "target": target, **fields})
        return self.bench.loads.create(asked, "tester")

    def hold(self, pod: str | None) -> None:
        """A pod, or nobody, holds the device."""
        hold(self.bench.ledger, pod, node=self.name)

    def stop(self) -> None:
        """Let every operation go on, and end the agent."""
        self.agent.gate.set()
        self.agent.write_gate.set()
        self.agent.stop()


class LoadsBench:
    """Everything of the manager that loads need. ``stop`` ends it all."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._stack = ExitStack()
        self.credentials = root / "credentials"
        bootstrap(self.credentials)
        password = (self.credentials / "redis-password").read_text()
        self.redis = RedisServer(root / "redis", password=password)
        self._stack.callback(self.redis.stop)
        self.config = root / "manager.yaml"
        self.config.write_text(json.dumps(self._configuration()))
        self.settings: ManagerSettings = load_settings(self.config)
        self.ledger = Ledger(self.settings.database.url)
        self._stack.callback(self.ledger.close)
        migrate(self.ledger)
        add_bitstream(self.ledger, "new", "a", NEW_AFU)
        add_bitstream(self.ledger, "old", "b", OLD_AFU)
        add_bitstream(self.ledger, "other", "c", OTHER_AFU)
        add_bitstream(self.ledger, "misfit", "d", NEW_AFU, interface_id="1" * 32)
        client = open_redis(self.settings.redis)
        self._stack.callback(client.close)
        self.loads: LoadService = open_loads(self.settings, self.ledger, client)
        self._names = (f"sim-{number}" for number in count(1))

    def add_node(self) -> BenchNode:
        """Another node."""
        node = BenchNode(self, next(self._names))
        self._stack.callback(node.stop)
        return node

    def _configuration(self) -> dict[str, object]:
        self.api_port = free_port()
        return {
            "api": {"bind": f"127.0.0.1:{self.api_port}"},
            "access": {"admin_token_file": str(self.credentials / "admin-token")},
            "database": {"url": f"sqlite:///{self.root}/ledger.db"},
            "redis": {
                "url": self.redis.url,
                "password_file": str(self.credentials / "redis-password"),
            },
            "store": {"url": f"file://{self.root}/bitstreams"},
            "agent": {
                "client_cert_file": str(self.credentials / "manager-client.crt"),
                "client_key_file": str(self.credentials / "manager-client.key"),
            },
            "reconciler": {"interval_seconds": 0.1},
            "worker": {"threads": 8},
        }

    def spawn(self, part: str) -> Process:
        """Start ``api``, ``worker`` or ``reconciler`` as a real process."""
        process = Process(
            part,
            [str(SCRIPT), "--config", str(self.config), part],
            log=self.root / f"{part}.log",
            unset=("FPGA_MANAGER_",),
        )
        self._stack.callback(process.stop)
        return process

    def spawn_ready(self, part: str) -> Process:
        """Start a process and wait until it says that it works."""
        process = self.spawn(part)
        words = _READY_WORDS[part]

        def ready() -> bool:
            process.require_running()
            return words in process.log.read_text()

        wait_for(ready, timeout=60, what=f"{words} in the log of the {part}")
        return process

    @property
    def api_url(self) -> str:
        """Where the API answers, once it was started."""
        return f"http://127.0.0.1:{self.api_port}"

    def client(self) -> ManagerClient:
        """A client with the administrator's token."""
        return ManagerClient(self.api_url, (self.credentials / "admin-token").read_text())

    def wait_state(self, load_id: str, *states: LoadState, timeout: float = 30) -> LoadDetail:
        """Wait until the load is in one of ``states``."""

        def reached() -> LoadDetail | None:
            detail = self.loads.detail(load_id)
            return detail if detail.state in states else None

        try:
            return wait_for(reached, timeout=timeout, what=f"load {load_id} in {states}")
        except TimeoutError as error:
            raise TimeoutError(f"{error}; {self.loads.detail(load_id)}") from error

    def stop(self) -> None:
        """End everything."""
        self._stack.close()

    def __enter__(self) -> "LoadsBench":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


def ends_of(detail: LoadDetail) -> list[LoadState]:
    """Every end in a load's history."""
    return [event.state for event in detail.history if event.state.ended]


def short_root() -> Path:
    """A private folder with a short name."""
    return Path(tempfile.mkdtemp(prefix="fp"))
