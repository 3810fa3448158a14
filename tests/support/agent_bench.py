"""One node's agent without gRPC, with everything around it in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fpga_common.domain.card import Region
from fpga_plugin.agent.draining import Drain
from fpga_plugin.agent.handover import Handover
from fpga_plugin.agent.journal import Journal, StoredOperation
from fpga_plugin.agent.operation import Operation
from fpga_plugin.agent.operations import Operations
from fpga_plugin.agent.programming import Programming
from fpga_plugin.agent.reservations import Reservations
from support.agent_doubles import (
    FileBitstreams,
    MemoryInventory,
    MemoryProgrammer,
    Outcomes,
    ScriptedKubelet,
    card,
    inspect_content,
    request,
)


@dataclass
class Bench:
    """One node's agent without gRPC."""

    inventory: MemoryInventory
    reservations: Reservations
    kubelet: ScriptedKubelet
    programmer: MemoryProgrammer
    bitstreams: FileBitstreams
    operations: Operations
    outcomes: Outcomes

    def run(self, **changes: object) -> Operation | StoredOperation:
        """Program the region and wait for the end."""
        operation = self.operations.program(request(**changes))  # type: ignore[arg-type]
        if isinstance(operation, Operation):
            for _ in operation.follow(lambda: True):
                pass
        return operation

    def region(self) -> Region:
        """The region as the snapshot has it."""
        (only,) = self.inventory.snapshot().cards
        return only.regions[0]


@contextmanager
def running_bench(state_dir: Path) -> Iterator[Bench]:
    """A bench whose operations have ended when the block has."""
    reservations = Reservations(state_dir)
    inventory = MemoryInventory(card(), overlay=reservations.apply)
    kubelet, programmer = ScriptedKubelet(), MemoryProgrammer(inventory)
    bitstreams, outcomes = FileBitstreams(), Outcomes()
    programming = Programming(
        inventory,
        bitstreams,
        programmer,
        Handover(inventory, reservations, Drain(kubelet, 0.2)),
        inspect_content,
    )
    operations = Operations(Journal(state_dir), programming.carry_out, outcomes)
    yield Bench(inventory, reservations, kubelet, programmer, bitstreams, operations, outcomes)
    programmer.go.set()
    assert operations.stop(10.0)
