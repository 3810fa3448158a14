"""The steps of one operation from request to verified AFU. Run by ``agent.operations``."""

from dataclasses import dataclass
from typing import BinaryIO, Protocol

from fpga_common.domain.card import Card, Region
from fpga_common.domain.ids import InvalidId
from fpga_common.domain.operation import FailureCode, Phase
from fpga_plugin.agent.checking import Inspect, check_bitstream, require_programmable
from fpga_plugin.agent.handover import Handover, Target
from fpga_plugin.agent.operation import Operation
from fpga_plugin.agent.ports import Inventory
from fpga_plugin.failures import OperationFailed, operation_failed
from fpga_plugin.programmers.protocol import Image, Programmer


class Bitstreams(Protocol):
    """Where the bytes come from: ``agent.fetching.BitstreamCache``."""

    def fetch(self, operation: Operation) -> BinaryIO:
        """Open the operation's bitstream. Raises OperationFailed."""
        ...

    def drop(self, digest: str) -> None:
        """Forget a bitstream whose content turned out to be wrong."""
        ...


class ProgrammerChoice(Protocol):
    """Which programmer a card gets: ``programmers.registry.Programmers``."""

    def for_card(self, card: Card) -> Programmer:
        """The programmer. Raises OperationFailed(unsupported)."""
        ...


@dataclass(frozen=True, slots=True)
class Programming:
    """Carries operations out; refuses what is senseless before it fetches anything."""

    inventory: Inventory
    bitstreams: Bitstreams
    programmers: ProgrammerChoice
    handover: Handover
    inspect: Inspect

    def carry_out(self, operation: Operation) -> str:
        """Fetch, check, hand over, and return the AFU id read back. Raises OperationFailed."""
        card, _ = self._find(operation)
        programmer = self.programmers.for_card(card)
        name = operation.request.bitstream.name or operation.request.bitstream.digest
        operation.enter(Phase.FETCHING, f"fetching {name}")
        with self.bitstreams.fetch(operation) as stream:
            operation.enter(Phase.CHECKING, f"checking {name}")
            card, region = self._find(operation)
            image = self._check(operation, stream, region)
            return self.handover.program(operation, Target(card, region, programmer, image))

    def _find(self, operation: Operation) -> tuple[Card, Region]:
        operation.require_running()
        request = operation.request
        found = self.inventory.snapshot().region(request.region_id)
        try:
            if found is None and self.inventory.snapshot().card(request.card_id) is not None:
                raise _unknown(request.region_id)
        except InvalidId as error:
            raise _unknown(request.region_id) from error
        return require_programmable(found, request.region_id, request.card_id)

    def _check(self, operation: Operation, stream: BinaryIO, region: Region) -> Image:
        wanted = operation.request.bitstream
        try:
            return Image(stream, check_bitstream(stream, wanted, region, self.inspect))
        except OperationFailed as error:
            if error.failure.code is FailureCode.DIGEST_MISMATCH:
                self.bitstreams.drop(wanted.digest)
            raise


def _unknown(region_id: str) -> OperationFailed:
    return operation_failed(
        FailureCode.REGION_UNKNOWN, f"this node has no region {region_id}", actual=region_id
    )
