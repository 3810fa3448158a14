"""Every service of the platform on this machine, started in order and always ended."""

import shutil
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final

from fpga_common.client import ManagerClient
from fpga_common.testing.platform.layout import (
    OUR_VARIABLES,
    Layout,
    console_script,
    manager_configuration,
    write_configuration,
)
from fpga_common.testing.platform.node import SimulatedNode
from fpga_common.testing.platform.ports import PortClaims
from fpga_common.testing.processes import Process
from fpga_common.testing.redis_server import RedisServer
from fpga_common.testing.waiting import wait_for

MANAGER: Final = "fpga-bitstream-manager"
START_SECONDS: Final = 90.0


class SetupFailed(Exception):
    """A preparing command failed; the message ends with its output."""


class LocalPlatform:
    """A running platform below ``folder`` (a private temporary one by default).

    ``api_port`` and ``web_port`` are wishes: another free port is taken when they are in use.
    Nothing stays running or lies around after ``stop``, unless ``folder`` was given. Once
    ``cancelled`` is set, ``start`` ends what it began and raises Cancelled.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        nodes: Sequence[str] = ("sim-a", "sim-b"),
        profiles: tuple[str, ...] = ("pac-a10", "pac-a10"),
        programming_seconds: float = 1.0,
        api_port: int | None = None,
        web_port: int | None = None,
        with_web: bool = True,
        database_url: str | None = None,
        cancelled: threading.Event | None = None,
    ) -> None:
        self._stack = ExitStack()
        self._cancelled = cancelled or threading.Event()
        self._own_folder = folder is None
        self._folder = folder or Path(tempfile.mkdtemp(prefix="fpga-platform-"))
        self._sockets = Path(tempfile.mkdtemp(prefix="fp"))
        self.layout = Layout(self._folder)
        self._claims = PortClaims()
        self.api_port = self._claims.claim(api_port)
        self.web_port = self._claims.claim(web_port)
        self._with_web = with_web
        self._database_url = database_url
        self._node_names = tuple(nodes)
        self._profiles = profiles
        self._programming_seconds = programming_seconds
        self.nodes: dict[str, SimulatedNode] = {}
        self.processes: dict[str, Process] = {}
        self.redis: RedisServer | None = None
        self._manager_config: Path | None = None
        self._migration: Process | None = None

    @property
    def api_url(self) -> str:
        """The manager's address."""
        return f"http://127.0.0.1:{self.api_port}"

    @property
    def console_url(self) -> str:
        """The console's address."""
        return f"http://127.0.0.1:{self.web_port}"

    @property
    def admin_token_file(self) -> Path:
        """The file with the administrator's token."""
        return self.layout.credentials / "admin-token"

    @property
    def admin_token(self) -> str:
        """The administrator's token."""
        return self.admin_token_file.read_text(encoding="utf-8").strip()

    def client(self) -> ManagerClient:
        """A client of the manager with the administrator's rights."""
        return ManagerClient(self.api_url, self.admin_token)

    def start(self) -> "LocalPlatform":
        """Start everything and wait until nodes are registered and reported.

        Raises:
            SetupFailed, ProcessEnded, TimeoutError, Cancelled: after everything was ended again.
        """
        try:
            self._bootstrap()
            self._start_manager()
            self._start_nodes()
            if self._with_web:
                self._start_web()
            self._wait_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def _start_manager(self) -> None:
        password = (self.layout.credentials / "redis-password").read_text().strip()
        self.redis = self._stack.enter_context(
            RedisServer(self.layout.root / "redis", password=password)
        )
        self._manager_config = write_configuration(
            self.layout.root / "manager.yaml",
            manager_configuration(
                self.layout,
                api_port=self.api_port,
                redis_url=self.redis.url,
                database_url=self._database_url,
            ),
        )
        self._migration = self._launch(
            "migrate", MANAGER, "--config", str(self._manager_config), "migrate"
        )
        for part in ("api", "worker", "reconciler"):
            self.start_manager_part(part)

    def start_manager_part(self, part: str) -> Process:
        """Start ``api``, ``worker`` or ``reconciler`` (again)."""
        return self._serve(part, MANAGER, "--config", str(self._manager_config), part)

    def _start_nodes(self) -> None:
        for name in self._node_names:
            node = SimulatedNode(
                self.layout,
                name,
                sockets=self._sockets,
                profiles=self._profiles,
                manager_url=self.api_url,
                programming_seconds=self._programming_seconds,
            )
            self.nodes[name] = node
            self._stack.callback(node.stop)
            node.start()

    def _start_web(self) -> None:
        config = write_configuration(
            self.layout.root / "web.yaml",
            {"bind": f"127.0.0.1:{self.web_port}", "manager": {"url": self.api_url}},
        )
        self._serve("web", "fpga-web", "--config", str(config), "serve")

    def _wait_ready(self) -> None:
        if self._migration is not None:
            self._require_success(self._migration)
        self._wait(lambda: self._answers(self.api_url), "an answer of the API")
        if self._with_web:
            self._wait(lambda: self._answers(self.console_url), "an answer of the console")
        for node in self.nodes.values():
            node.wait_registered(START_SECONDS, self._cancelled)
        expected = {
            (node.name, card.region_id) for node in self.nodes.values() for card in node.host.cards
        }
        with self.client() as client:
            self._wait(
                lambda: {(device.node, device.id) for device in client.devices()} == expected,
                "every device in the manager",
            )

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        wait_for(condition, timeout=START_SECONDS, what=what, cancelled=self._cancelled)

    def _answers(self, url: str) -> bool:
        for process in self.processes.values():
            process.require_running()
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=5) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except OSError:
            return False

    def _bootstrap(self) -> None:
        nodes = [word for name in self._node_names for word in ("--node", name)]
        bootstrap = self._launch(
            "bootstrap",
            MANAGER,
            "bootstrap",
            "--directory",
            str(self.layout.credentials),
            "--host",
            "127.0.0.1",
            "--host",
            "localhost",
            *nodes,
        )
        self._require_success(bootstrap)

    def _require_success(self, process: Process) -> None:
        self._wait(lambda: not process.running, f"the end of {process.name}")
        if process.returncode != 0:
            raise SetupFailed(f"{process.name} failed with {process.returncode}:\n{process.tail()}")

    def _launch(self, name: str, script: str, *arguments: str) -> Process:
        process = Process(
            name,
            [console_script(script), *arguments],
            log=self.layout.logs / f"{name}.log",
            unset=OUR_VARIABLES,
        )
        self._stack.callback(process.stop)
        return process

    def _serve(self, name: str, script: str, *arguments: str) -> Process:
        self.processes[name] = self._launch(name, script, *arguments)
        return self.processes[name]

    def stop(self) -> None:
        """End everything that was started, newest first, and remove private folders."""
        for process in self.processes.values():
            process.terminate()
        try:
            self._stack.close()
        finally:
            self._claims.release()
            shutil.rmtree(self._sockets, ignore_errors=True)
            if self._own_folder:
                shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> "LocalPlatform":
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
