"""What a worker does with one card: claims its first load, carries it out, goes on with the next.

Called by ``tasks.worker``; knows the ledger and the agent's client, not Celery. Whatever happens
here, the reconciler can settle the attempt from the ledger and the node alone.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fpga_bitstream_manager.agents import (
    AgentClient,
    AgentConnector,
    AgentRefused,
    AgentUnreachable,
)
from fpga_bitstream_manager.clock import Clock, utc_now
from fpga_bitstream_manager.ledger import Ledger
from fpga_bitstream_manager.loads.attempts import (
    Claim,
    Claimed,
    Settled,
    claim_next,
    record_progress,
    settle,
)
from fpga_bitstream_manager.loads.history import Superseded
from fpga_bitstream_manager.loads.lookup import load_row
from fpga_bitstream_manager.loads.planning import holds_wanted_afu
from fpga_bitstream_manager.loads.refusals import UnknownLoad
from fpga_bitstream_manager.loads.signals import Notices
from fpga_bitstream_manager.loads.values import (
    Attempt,
    Failed,
    OperationEnd,
    Progress,
    Succeeded,
)
from fpga_bitstream_manager.tasks.leases import LEASE_SECONDS, Leases
from fpga_common.domain.operation import Failure, FailureCode, Phase
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

#: How long past the deadline a worker still listens: the node says itself that time is up.
_DEADLINE_GRACE_SECONDS: Final = 10.0
_PERCENT_EVERY: Final = timedelta(seconds=0.25)


Stop = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Means:
    """What a worker works with."""

    ledger: Ledger
    connector: AgentConnector
    notices: Notices
    leases: Leases
    worker: str
    clock: Clock = utc_now


class Pace:
    """Keeps the history short: every phase, and a percentage four times a second."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._phase: Phase | None = None
        self._written_at = clock()

    def worth_writing(self, progress: Progress) -> bool:
        """Whether this one goes to the ledger."""
        now = self._clock()
        if progress.phase is self._phase and now - self._written_at < _PERCENT_EVERY:
            return False
        self._phase, self._written_at = progress.phase, now
        return True


class Executor:
    """Carries loads out, each call in its own thread."""

    def __init__(self, means: Means) -> None:
        self._means = means

    def run(self, load_id: str) -> None:
        """Work on the card of a load until nothing can be claimed there. Twice is like once."""
        card = self._card_of(load_id)
        while card is not None and not self._means.leases.stopping.is_set():
            claimed = self._claim(*card)
            if claimed is None or not self._carry_out(claimed):
                return

    def warm_up(self) -> None:
        """Prepare what the first claim needs, so that no load waits for it; claims nothing."""
        self._claim("", "")

    def _card_of(self, load_id: str) -> tuple[str, str] | None:
        with self._means.ledger.reading() as session:
            try:
                row = load_row(session, load_id)
            except UnknownLoad:
                log.warning("load_unknown", load=load_id)
                return None
            return row.node, row.card

    def _claim(self, node: str, card: str) -> Claimed | None:
        means = self._means
        with means.ledger.transaction() as session:
            now = means.clock()
            claim = Claim(means.worker, now, now + timedelta(seconds=LEASE_SECONDS))
            result = claim_next(session, node, card, claim)
        means.notices.changed(result.changed)
        if result.claimed is not None:
            attempt = result.claimed.assignment.attempt
            log.info("load_claimed", load=attempt.load_id, attempt=attempt.number, node=node)
        return result.claimed

    def _carry_out(self, claimed: Claimed) -> bool:
        """Whether the attempt is settled, so that the card is free for the next load."""
        attempt = claimed.assignment.attempt
        try:
            with self._means.leases.hold(attempt) as held:
                end = self._operate(claimed, held.listen)
                if end is None:
                    return False
                settled = self._settle(attempt, end)
        except Superseded:
            log.warning("load_superseded", load=attempt.load_id, attempt=attempt.number)
            return True
        log.info(
            "load_settled",
            load=attempt.load_id,
            attempt=attempt.number,
            state=settled.state.value,
            failure=end.failure.code.value if isinstance(end, Failed) else None,
        )
        return True

    def _operate(self, claimed: Claimed, listen: Callable[[Stop], None]) -> OperationEnd | None:
        """The operation's end; None where only the node can tell what became of it.

        The first question begins nothing: without an answer to it, nothing was begun.
        """
        assignment, target = claimed.assignment, claimed.target
        try:
            with self._means.connector.connect(
                target.node, target.agent_address, target.agent_certificate
            ) as client:
                client.operation(assignment.attempt.load_id, assignment.attempt.number)
                if self._node_shows_it(client, claimed):
                    return Succeeded(assignment.bitstream.afu_id, "the region holds this AFU")
                return self._program(client, claimed, listen)
        except AgentRefused as refused:
            return Failed(refused.failure)
        except AgentUnreachable as error:
            return Failed(Failure(FailureCode.NODE_UNREACHABLE, error.message))

    def _node_shows_it(self, client: AgentClient, claimed: Claimed) -> bool:
        assignment, afu_id = claimed.assignment, claimed.assignment.bitstream.afu_id
        known = holds_wanted_afu(assignment.bitstream, claimed.target, force=assignment.force)
        return known and afu_id is not None and client.shows_afu(assignment.device, afu_id)

    def _program(
        self,
        client: AgentClient,
        claimed: Claimed,
        listen: Callable[[Stop], None],
    ) -> OperationEnd | None:
        attempt = claimed.assignment.attempt
        stream = client.program(
            claimed.assignment, timeout=self._seconds_left(claimed.assignment.deadline_at)
        )
        listen(stream.cancel)
        try:
            return self._follow(attempt, stream)
        except AgentUnreachable as error:
            log.warning(
                "agent_stream_broke",
                load=attempt.load_id,
                attempt=attempt.number,
                reason=error.message,
            )
            return None

    def _follow(
        self, attempt: Attempt, events: Iterable[Progress | OperationEnd]
    ) -> OperationEnd | None:
        pace = Pace(self._means.clock)
        for item in events:
            if not isinstance(item, Progress):
                return item
            if pace.worth_writing(item):
                self._record(attempt, item)
        return None

    def _record(self, attempt: Attempt, progress: Progress) -> None:
        with self._means.ledger.transaction() as session:
            now = self._means.clock()
            until = now + timedelta(seconds=LEASE_SECONDS)
            record_progress(session, attempt, progress, now, until)
        self._means.notices.changed([attempt.load_id])

    def _seconds_left(self, deadline_at: datetime) -> float:
        left = (deadline_at - self._means.clock()).total_seconds()
        return max(1.0, left) + _DEADLINE_GRACE_SECONDS

    def _settle(self, attempt: Attempt, end: OperationEnd) -> Settled:
        with self._means.ledger.transaction() as session:
            settled = settle(session, attempt, end, self._means.clock())
        self._means.notices.changed([attempt.load_id])
        return settled
