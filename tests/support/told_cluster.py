"""A manager's ledger and a fake cluster, with the reconciler's rounds between them."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from fpga_bitstream_manager.cluster import open_cluster
from fpga_bitstream_manager.ledger.loads import LoadRow
from fpga_bitstream_manager.loads.history import Note, change
from fpga_bitstream_manager.nodes.ingestion import Ingestion
from fpga_bitstream_manager.reconciler.cluster_round import ClusterRound
from fpga_bitstream_manager.settings import KubernetesSettings
from fpga_common.contract.loads import LoadCreate
from fpga_common.domain.load import LoadState
from fpga_common.domain.operation import FailureCode
from fpga_common.testing.cluster import FakeCluster
from support.loads_bench import NEW_AFU, add_bitstream
from support.manager_services import SetClock, open_services
from support.node_reports import INTERFACE, report


class ToldCluster:
    """Reports go in, rounds run when a test says so, and the fake cluster shows what it heard."""

    def __init__(self, folder: Path) -> None:
        self._stack = ExitStack()
        self.clock = SetClock()
        self.services = open_services(folder, self.clock)
        self._stack.callback(self.services.close)
        self.fake = self._stack.enter_context(FakeCluster())
        token = folder / "cluster-token"
        token.write_text(self.fake.token)
        self._settings = KubernetesSettings(
            enabled=True, api_url=self.fake.url, token_file=str(token)
        )
        self.restart()

    def restart(self) -> None:
        """Another reconciler, which remembers nothing."""
        self._round = ClusterRound(
            self.services.ledger, open_cluster(self._settings), self.clock, away_seconds=0
        )

    def report(self, node: str, *cards: dict[str, Any]) -> None:
        """A node reports these cards."""
        self.clock.forward(seconds=1)
        services = self.services
        Ingestion(services.ledger, services.heartbeats, self.clock, lambda _node: None).report(
            report(node, *cards)
        )

    def tell(self, rounds: int = 1) -> None:
        """Run rounds."""
        for _ in range(rounds):
            self._round.run_once()

    def fail_load(self, node: str, device: str) -> str:
        """A load that ends failed; returns its id."""
        add_bitstream(self.services.ledger, "nlb0", "a", NEW_AFU, INTERFACE)
        asked = LoadCreate.model_validate(
            {"bitstream": "nlb0", "target": {"node": node, "device": device}}
        )
        load = self.services.loads.create(asked, "tester")
        with self.services.ledger.transaction() as session:
            row = session.get_one(LoadRow, load.id)
            change(
                session,
                row,
                LoadState.FAILED,
                Note(self.clock(), "it failed"),
                error_code=FailureCode.VERIFICATION_MISMATCH.value,
                error_message="the region read back another AFU",
                error_expected=NEW_AFU,
                error_actual="0" * 32,
            )
        return load.id

    def reasons(self) -> list[str]:
        """Reasons of all Events, oldest first."""
        return [event["reason"] for event in self.fake.events]

    def calls(self, method: str) -> int:
        """How many requests of a method the API server got."""
        return sum(known == method for known, _ in self.fake.requests)

    def stop(self) -> None:
        """End everything."""
        self._stack.close()
