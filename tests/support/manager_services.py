"""The manager's services in this process: a ledger in a folder, no Redis, a clock that is set."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from fpga_bitstream_manager.ledger.migration import migrate
from fpga_bitstream_manager.services import Services
from fpga_bitstream_manager.settings import ManagerSettings
from fpga_common.testing.waiting import free_port

ADMIN = {"Authorization": "Bearer an-admin-token"}
NODE = "n1"
NODE_HEADERS = {"Authorization": "Bearer a-node-token"}


class SetClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **duration: float) -> None:
        """Move on."""
        self.now += timedelta(**duration)


def settings_in(folder: Path) -> ManagerSettings:
    """Settings with everything below ``folder``, an admin's token and one node's."""
    (folder / "nodes").mkdir()
    (folder / "admin-token").write_text("an-admin-token")
    (folder / "nodes" / f"{NODE}.token").write_text("a-node-token")
    return ManagerSettings.model_validate(
        {
            "database": {"url": f"sqlite:///{folder}/ledger.db", "busy_seconds": 0.2},
            "redis": {"url": f"redis://127.0.0.1:{free_port()}/0"},
            "store": {"url": f"file://{folder}/store"},
            "access": {
                "admin_token_file": str(folder / "admin-token"),
                "node_tokens_dir": str(folder / "nodes"),
            },
        }
    )


def open_services(folder: Path, clock: SetClock) -> Services:
    """Services with a migrated ledger; the caller closes them."""
    services = Services.open(settings_in(folder), clock=clock)
    migrate(services.ledger)
    return services
