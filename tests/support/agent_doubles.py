"""In-memory stand-ins for what surrounds the node agent: cards, kubelet, programmer, bitstreams."""

import hashlib
import os
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from fpga_common.domain.bitstream import BitstreamFormat, BitstreamInfo
from fpga_common.domain.card import Card, Region, RegionState
from fpga_common.domain.health import HealthStatus, Verdict
from fpga_common.domain.operation import Failure
from fpga_plugin.agent.events import OperationRequest, WantedBitstream
from fpga_plugin.agent.operation import Operation
from fpga_plugin.failures import OperationFailed
from fpga_plugin.inventory.snapshot import Snapshot
from fpga_plugin.programmers.protocol import Image, Progress

CARD = "0000:3b:00.0"
REGION = "0000:3b:00.0-r0"
INTERFACE = "a5d72a3cc8b04939912cf715e5dc10ca"
OLD_AFU = "9aeffe5f84570612c000c9660d824272"
NEW_AFU = "d8424dc4a4a3c413f89e433683f9040b"
CONTENT = b"the bytes of a bitstream"
DIGEST = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"


def region(**changes: object) -> Region:
    """A ready region."""
    base = Region(
        id=REGION,
        index=0,
        state=RegionState.READY,
        interface_id=INTERFACE,
        afu_id=OLD_AFU,
        device_nodes=("/dev/dfl-port.0",),
        health=Verdict(HealthStatus.HEALTHY, 0.0),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def card(**changes: object) -> Card:
    """A healthy card with one ready region; ``changes`` are the region's."""
    return Card(
        id=CARD,
        backend="dfl",
        model="N3000",
        regions=(region(**changes),),
        health=Verdict(HealthStatus.HEALTHY, 0.0),
    )


def request(operation_id: str = "load-1.1", **changes: object) -> OperationRequest:
    """A request to put CONTENT into REGION."""
    base = OperationRequest(
        operation_id=operation_id,
        load_id="load-1",
        attempt=1,
        region_id=REGION,
        bitstream=WantedBitstream(DIGEST, len(CONTENT), "gbs", INTERFACE, NEW_AFU, "nlb0"),
        requested_by="ada",
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def inspect_content(stream: BinaryIO, size: int) -> BitstreamInfo:
    """Takes any bytes for a bitstream with NEW_AFU for INTERFACE."""
    stream.seek(0)
    return BitstreamInfo(BitstreamFormat.GBS, size, 0, size, (INTERFACE,), (NEW_AFU,))


class MemoryInventory:
    """Cards in memory with an overlay, as the inventory store has them."""

    def __init__(self, *cards: Card, overlay: Callable[[Card], Card] = lambda card: card) -> None:
        self.hardware = {card.id: card for card in cards}
        self.overlay = overlay
        self.touched = threading.Event()
        self._snapshot = Snapshot((), 0, 0.0)
        self.touch()
        self.touched.clear()

    def snapshot(self) -> Snapshot:
        """The cards as last read."""
        return self._snapshot

    def rescan(self, card_id: str) -> None:
        """Read everything anew."""
        del card_id
        self.touch()

    def touch(self) -> None:
        """Apply the overlay."""
        cards = tuple(self.overlay(card) for card in self.hardware.values())
        self._snapshot = Snapshot(cards, self._snapshot.revision + 1, 0.0)
        self.touched.set()

    def show_afu(self, afu_id: str | None) -> None:
        """What the hardware says from now on."""
        self.hardware[CARD] = card(afu_id=afu_id)


@dataclass(frozen=True)
class PodHolder:
    """A pod that holds a device."""

    pod: str | None = "trainer"
    namespace: str | None = "ml"
    container: str | None = "main"
    source: str = "podresources"


@dataclass
class ScriptedKubelet:
    """Answers a handover's questions; ``offers`` counts down the polls until it lets go."""

    holder: PodHolder | None = None
    offers: int = 0
    unreachable: Exception | None = None
    asked: list[str] = field(default_factory=list)

    def withdrawn(self, device_id: str, deadline: float) -> bool:
        """Whether nobody can get the device."""
        del deadline
        self._answer(f"withdrawn {device_id}")
        self.offers -= 1
        return self.offers < 0

    def fresh_holder(self, device_id: str, deadline: float) -> PodHolder | None:
        """Who has it."""
        del deadline
        self._answer(f"holder {device_id}")
        return self.holder

    def _answer(self, question: str) -> None:
        self.asked.append(question)
        if self.unreachable is not None:
            raise self.unreachable


class MemoryProgrammer:
    """Writes into a MemoryInventory; waits for ``go`` before it does."""

    def __init__(self, inventory: MemoryInventory, afu_id: str | None = NEW_AFU) -> None:
        self.inventory = inventory
        self.afu_id = afu_id
        self.failure: Exception | None = None
        self.refusal: Failure | None = None
        self.states_seen: list[RegionState] = []
        self.writing = threading.Event()
        self.go = threading.Event()
        self.go.set()

    def for_card(self, card: Card) -> "MemoryProgrammer":
        """Every card gets this one."""
        del card
        return self

    def open_exclusively(self, card: Card, region: Region) -> "MemoryProgrammer":
        """Opens, unless refused."""
        del card, region
        if self.refusal is not None:
            raise OperationFailed(self.refusal)
        return self

    def write(self, image: Image, progress: Progress, *, deadline: float) -> None:
        """Notes the region's state, waits for ``go``, then fails or shows the AFU."""
        del image, deadline
        found = self.inventory.snapshot().region(REGION)
        assert found is not None
        self.states_seen.append(found[1].state)
        self.writing.set()
        progress(0.5)
        assert self.go.wait(30.0)
        if self.failure is not None:
            raise self.failure
        self.inventory.show_afu(self.afu_id)

    def __enter__(self) -> "MemoryProgrammer":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return


class FileBitstreams:
    """Gives the same bytes for every operation, from a real file."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.dropped: list[str] = []

    def fetch(self, operation: Operation) -> BinaryIO:
        """The bytes."""
        operation.require_running()
        descriptor, name = tempfile.mkstemp()
        os.write(descriptor, self.content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        Path(name).unlink()
        return os.fdopen(descriptor, "rb")

    def drop(self, digest: str) -> None:
        """Notes that they were wrong."""
        self.dropped.append(digest)


class Outcomes:
    """Collects how operations ended."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def operation_ended(self, outcome: str, seconds: float) -> None:
        """Note one."""
        assert seconds >= 0
        self.seen.append(outcome)
