"""The manager's API as a real process on a free port, for tests of the API and of its clients."""

import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import yaml

from fpga_bitstream_manager.ledger import Ledger
from fpga_bitstream_manager.ledger.migration import migrate
from fpga_common.client import ManagerClient
from fpga_common.testing.processes import Process
from fpga_common.testing.waiting import free_port, listening, wait_for

ADMIN_TOKEN = "an-admin-token-for-tests"
NODE_TOKEN = "a-node-token-for-tests-"
COMMAND = str(Path(sysconfig.get_path("scripts")) / "fpga-bitstream-manager")


class RunningManager:
    """A migrated ledger, a folder store, an admin token, node tokens, and the API's process."""

    def __init__(self, *, redis_url: str | None = None, **overrides: dict[str, Any]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fpm"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.store = self.folder / "store"
        self.ledger_url = f"sqlite:///{self.folder}/ledger.db"
        self.admin_token_file = self.folder / "admin-token"
        self.node_tokens = self.folder / "nodes"
        self.node_tokens.mkdir()
        self.admin_token_file.write_text(ADMIN_TOKEN + "\n")
        self.settings = self.folder / "manager.yaml"
        self._values = self._defaults(redis_url or f"redis://127.0.0.1:{free_port()}/0")
        self.configure(**overrides)
        self.process: Process | None = None

    def _defaults(self, redis_url: str) -> dict[str, dict[str, Any]]:
        return {
            "api": {"bind": f"127.0.0.1:{self.port}"},
            "database": {"url": self.ledger_url},
            "redis": {"url": redis_url},
            "store": {"url": f"file://{self.store}"},
            "access": {
                "admin_token_file": str(self.admin_token_file),
                "node_tokens_dir": str(self.node_tokens),
            },
        }

    def configure(self, **overrides: dict[str, Any]) -> None:
        """Write the settings with these sections' keys changed; counts from the next start."""
        for section, keys in overrides.items():
            self._values.setdefault(section, {}).update(keys)
        self.settings.write_text(yaml.safe_dump(self._values))

    def add_node_token(self, node: str) -> str:
        """Give a node a token."""
        token = NODE_TOKEN + node
        (self.node_tokens / f"{node}.token").write_text(token)
        return token

    def migrate(self) -> None:
        """Bring the ledger up to date without a process of its own, which is faster."""
        ledger = Ledger(self.ledger_url)
        migrate(ledger)
        ledger.close()

    def run_migrate_command(self) -> None:
        """Run the migrate command to its end."""
        command = [COMMAND, "--config", str(self.settings), "migrate"]
        with Process("migrate", command, log=self.folder / "migrate.log") as process:
            assert process.wait(90) == 0, process.tail()

    def start(self) -> "RunningManager":
        """Start the API and wait until it accepts connections."""
        process = Process(
            "api", [COMMAND, "--config", str(self.settings), "api"], log=self.folder / "api.log"
        )
        self.process = process

        def accepts() -> bool:
            process.require_running()
            return listening(self.port)

        wait_for(accepts, timeout=90, what="the API's port")
        return self

    def stop(self) -> int:
        """End it; returns the exit code."""
        if self.process is None:
            return 0
        code = self.process.stop()
        self.process = None
        return code

    def client(self, token: str = ADMIN_TOKEN) -> ManagerClient:
        """A client with a token."""
        return ManagerClient(self.url, token)

    def log(self) -> str:
        """Everything the API wrote."""
        return (self.folder / "api.log").read_text()
