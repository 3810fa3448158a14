"""A small cluster as the manager would answer it: what the console's tests and pictures show.

Two nodes, of which one can fall silent, six devices in six conditions, bitstreams that fit and one
that does not, a load in each state. Pure builders: ``console_manager`` keeps and serves them.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from fpga_common.contract.bitstreams import Bitstream
from fpga_common.contract.loads import (
    LoadAttempt,
    LoadBitstream,
    LoadDetail,
    LoadError,
    LoadEvent,
    LoadProgress,
    LoadTarget,
)
from fpga_common.contract.nodes import AllocationRef, Device, Node
from fpga_common.contract.report import NodeFacts, PoolReport
from fpga_common.domain.bitstream import BitstreamFormat
from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus, Severity
from fpga_common.domain.load import AttemptOutcome, IfBusy, LoadState, Priority
from fpga_common.domain.operation import FailureCode, Phase

N3000: Final = "a5d72a3cc8b04939912cf715e5dc10ca"
D5005: Final = "9346116d23e44aa0a7d57b0e1d7d4f1c"
NLB0: Final = "9aeffe5f84570612c000c9660d824272"
SORT: Final = "331db30c988541ea9081f88b8f655caa"
CRYPTO: Final = "7f2c6a1de0b94c5c8d3e52af0190b6e4"
HELLO: Final = "850adcc26ceb4b229722d43375b61c66"


def digest(number: int) -> str:
    """A digest that tells its number."""
    return f"sha256:{number:02x}" + "5e" * 31


def bitstreams(now: datetime) -> list[Bitstream]:
    """Three that fit the N3000 cards, one for the D5005."""
    return [
        bitstream(1, "nlb0", N3000, NLB0, now - timedelta(days=12), devices=2, version="1.4"),
        bitstream(2, "sort", N3000, SORT, now - timedelta(days=3), devices=1, version="2.0"),
        bitstream(3, "crypto-gcm", N3000, CRYPTO, now - timedelta(hours=5)),
        bitstream(4, "hello-afu", D5005, HELLO, now - timedelta(days=40), devices=1),
    ]


def bitstream(
    number: int,
    name: str,
    interface_id: str,
    afu_id: str,
    at: datetime,
    *,
    devices: int = 0,
    version: str | None = None,
) -> Bitstream:
    """One stored file."""
    return Bitstream(
        digest=digest(number),
        name=name,
        version=version,
        format=BitstreamFormat.GBS,
        size_bytes=18_400_000 + number * 977_013,
        payload_size_bytes=18_000_000,
        interface_id=interface_id,
        afu_id=afu_id,
        afu_name=name,
        uploaded_by="admin",
        uploaded_at=at,
        devices=devices,
    )


def nodes(now: datetime) -> list[Node]:
    """Two nodes that report."""
    return [node("fpga-a", now), node("fpga-b", now)]


def node(name: str, now: datetime, *, stale: bool = False) -> Node:
    """One node."""
    return Node(
        name=name,
        stale=stale,
        last_seen_at=now - timedelta(minutes=4 if stale else 0, seconds=6),
        facts=NodeFacts(
            kernel="6.1.0-28-amd64", plugin_version="0.1.0", drivers=["dfl-pci", "dfl-fme"]
        ),
        pools=[
            PoolReport(
                resource="fpga-platform.io/fpga",
                devices=["0000:3b:00.0-r0", "0000:5e:00.0-r0", "0000:86:00.0-r0"],
                healthy=2,
                registered=True,
            )
        ],
        cards=3,
        devices=3,
        devices_healthy=2,
        devices_held=1,
    )


def devices(now: datetime) -> list[Device]:
    """Healthy and held, healthy and free, too hot, on a slow link, quarantined, static."""
    hot = reason("temperature", Severity.FATAL, "FPGA is too hot", now, "101 °C", "at most 95 °C")
    slow = reason(
        "link_width", Severity.WARNING, "PCI link is narrower than the card", now, "×8", "×16"
    )
    bad = reason(
        "identity", Severity.FATAL, "AFU read back is not the one written", now, SORT[:8], NLB0[:8]
    )
    pod = AllocationRef(
        namespace="vision",
        pod="encoder-7c9d8",
        container="main",
        source="podresources",
        since=now - timedelta(hours=3),
    )
    return [
        device("fpga-a", "3b", now, holder=pod, afu_id=NLB0),
        device("fpga-a", "5e", now, afu_id=SORT, drift=True, desired_afu_id=NLB0),
        device("fpga-a", "86", now, health=health("unhealthy", now, hot), temperature=101.0),
        device("fpga-b", "3b", now, health=health("warning", now, slow), width=8),
        device(
            "fpga-b",
            "5e",
            now,
            health=health("unhealthy", now, bad),
            state=RegionState.QUARANTINED,
            reason="programming read back another AFU",
        ),
        device(
            "fpga-b",
            "af",
            now,
            model="Intel D5005",
            interface_id=D5005,
            afu_id=HELLO,
            state=RegionState.STATIC,
            vendor_device="8086:0b2b",
        ),
    ]


def reason(
    check: str, severity: Severity, message: str, now: datetime, observed: str, expected: str
) -> dict[str, Any]:
    """Why a verdict is not healthy."""
    return {
        "check": check,
        "severity": severity,
        "message": message,
        "since": (now - timedelta(minutes=17)).timestamp(),
        "observed": observed,
        "expected": expected,
    }


def health(status: str, now: datetime, *reasons: dict[str, Any]) -> dict[str, Any]:
    """A verdict."""
    since = (now - timedelta(minutes=17 if reasons else 6000)).timestamp()
    return {"status": HealthStatus(status), "since": since, "reasons": list(reasons)}


def device(node_name: str, bus: str, now: datetime, **changes: Any) -> Device:
    """One N3000, healthy and free unless said otherwise."""
    card = f"0000:{bus}:00.0"
    width = changes.pop("width", 16)
    temperature = changes.pop("temperature", 61.5)
    document: dict[str, Any] = {
        "node": node_name,
        "id": f"{card}-r0",
        "card": card,
        "backend": "dfl",
        "model": "Intel PAC N3000",
        "vendor_device": "8086:0b30",
        "pci": {
            "address": card,
            "vendor": "8086",
            "device": "0b30",
            "driver": "dfl-pci",
            "numa_node": 0 if bus < "80" else 1,
            "link": {
                "current_speed": 8.0,
                "max_speed": 8.0,
                "current_width": width,
                "max_width": 16,
            },
        },
        "numa_node": 0 if bus < "80" else 1,
        "interface_id": N3000,
        "afu_id": NLB0,
        "state": RegionState.READY,
        "reason": "",
        "health": health("healthy", now),
        "device_nodes": [f"/dev/dfl-port.{int(bus, 16) % 4}"],
        "sensors": {"temperature_celsius": temperature, "power_watts": 38.2},
        "stale": False,
        "last_seen_at": now - timedelta(seconds=6),
    }
    return Device.model_validate(document | changes)


def loads(now: datetime) -> list[LoadDetail]:
    """One in each state, newest first."""
    mismatch = LoadError(
        code=FailureCode.VERIFICATION_MISMATCH,
        message="the AFU read back is not the bitstream's",
        retryable=False,
        expected=NLB0,
        actual=SORT,
    )
    held = LoadError(
        code=FailureCode.REGION_HELD,
        message="vision/encoder-7c9d8 holds the device",
        retryable=True,
    )
    return [
        load(9, LoadState.QUEUED, now, minutes=0, number=3),
        load(8, LoadState.WAITING, now, minutes=2, error=held, bus="3b", number=2),
        load(7, LoadState.PROGRAMMING, now, minutes=1, percent=42.0, phase=Phase.PROGRAMMING),
        load(
            6,
            LoadState.VERIFYING,
            now,
            minutes=1,
            percent=96.0,
            phase=Phase.VERIFYING,
            bus="3b",
            number=3,
        ),
        load(5, LoadState.CANCELLING, now, minutes=6, percent=10.0, phase=Phase.DRAINING, bus="86"),
        load(4, LoadState.FAILED, now, minutes=18, seconds=7.4, error=mismatch, bus="5e"),
        load(3, LoadState.SUCCEEDED, now, minutes=95, seconds=4.1, number=2),
        load(2, LoadState.CANCELLED, now, minutes=240, seconds=31.0),
        load(1, LoadState.EXPIRED, now, minutes=900, seconds=3600.0, bus="86"),
    ]


def load(
    identity: int,
    state: LoadState,
    now: datetime,
    *,
    minutes: float,
    percent: float = 0.0,
    phase: Phase | None = None,
    seconds: float | None = None,
    error: LoadError | None = None,
    bus: str = "5e",
    number: int = 1,
) -> LoadDetail:
    """A load of bitstream ``number`` onto one of fpga-b's devices, with a plausible history."""
    created = now - timedelta(minutes=minutes, seconds=3)
    ended = created + timedelta(seconds=seconds) if seconds is not None else None
    chosen = bitstreams(now)[number - 1]
    started = created + timedelta(seconds=0.4) if phase or ended else None
    attempt = 1 if started else 0
    return LoadDetail(
        id=f"0198f3c{identity}a41c7d2e9b6{identity:05d}",
        state=state,
        bitstream=LoadBitstream(
            digest=chosen.digest,
            name=chosen.name,
            version=chosen.version,
            interface_id=chosen.interface_id,
            afu_id=chosen.afu_id,
        ),
        target=LoadTarget(node="fpga-b", device=f"0000:{bus}:00.0-r0"),
        requested_by="admin",
        priority=Priority.NORMAL,
        if_busy=IfBusy.WAIT,
        persist=True,
        force=False,
        created_at=created,
        started_at=started,
        finished_at=ended,
        deadline_at=created + timedelta(hours=1),
        seconds=seconds,
        attempt=attempt,
        progress=LoadProgress(phase=phase, percent=100.0 if ended else percent),
        previous_afu_id=NLB0,
        afu_id=chosen.afu_id if state is LoadState.SUCCEEDED else None,
        error=error,
        attempts=_attempts(started, ended, error),
        history=_history(state, created, started, ended, phase, error),
    )


def _attempts(
    started: datetime | None, ended: datetime | None, error: LoadError | None
) -> list[LoadAttempt]:
    if started is None:
        return []
    outcome = (AttemptOutcome.ERROR if error else AttemptOutcome.OK) if ended else None
    return [LoadAttempt(number=1, started_at=started, ended_at=ended, outcome=outcome, error=error)]


def _history(
    state: LoadState,
    created: datetime,
    started: datetime | None,
    ended: datetime | None,
    phase: Phase | None,
    error: LoadError | None,
) -> list[LoadEvent]:
    lines: list[tuple[datetime, LoadState, Phase | None, str]] = [
        (created, LoadState.QUEUED, None, "accepted")
    ]
    if started is not None:
        lines.append((started, LoadState.CLAIMED, Phase.FETCHING, "sent to the node"))
        lines += _work(started, phase)
    if ended is not None or state is not lines[-1][1]:
        message = error.message if error else state.value
        lines.append((ended or created + timedelta(seconds=1), state, None, message))
    return [event(index + 1, *line) for index, line in enumerate(lines)]


def _work(
    started: datetime, phase: Phase | None
) -> list[tuple[datetime, LoadState, Phase | None, str]]:
    steps = [
        (LoadState.PROGRAMMING, Phase.CHECKING, "digest and interface match"),
        (LoadState.PROGRAMMING, Phase.DRAINING, "taken from the kubelet"),
        (LoadState.PROGRAMMING, Phase.PROGRAMMING, "writing"),
        (LoadState.VERIFYING, Phase.VERIFYING, "reading the identity back"),
    ]
    reached = (
        [name for _, name, _ in steps].index(phase) + 1
        if phase
        in (
            Phase.DRAINING,
            Phase.PROGRAMMING,
            Phase.VERIFYING,
        )
        else len(steps)
    )
    return [
        (started + timedelta(seconds=0.5 * (index + 1)), state, name, message)
        for index, (state, name, message) in enumerate(steps[:reached])
    ]


def event(
    sequence: int,
    at: datetime,
    state: LoadState,
    phase: Phase | None,
    message: str,
    percent: float | None = None,
) -> LoadEvent:
    """One line of a history."""
    attempt = 0 if state in (LoadState.QUEUED, LoadState.WAITING) else 1
    return LoadEvent(
        sequence=sequence,
        at=at,
        state=state,
        attempt=attempt,
        phase=phase,
        percent=percent,
        message=message,
        actor="worker" if phase else "admin",
    )


def present() -> datetime:
    """Now, aware."""
    return datetime.now(UTC)
