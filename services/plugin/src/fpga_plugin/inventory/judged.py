"""A card with its verdicts after a reading, a hang or a disappearance. Pure; ``watch`` calls it."""

from dataclasses import dataclass, field, replace

from fpga_common.domain.card import Card, Region, RegionState
from fpga_plugin.backends.protocol import FoundCard, Reading
from fpga_plugin.health.checks import CheckName
from fpga_plugin.health.observation import Observation, Outcome
from fpga_plugin.health.verdict import Memory, judge

NOT_THERE = "the card is not there"


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of one card. ``card`` is None until something is."""

    found: FoundCard
    card: Card | None = None
    observations: tuple[Observation, ...] = ()
    memory: Memory = field(default_factory=Memory)


def after_reading(before: Judged, reading: Reading, now: float) -> Judged:
    """The card was read."""
    present = (
        Observation(CheckName.CARD_PRESENT.value, Outcome.OK),
        Observation(CheckName.CARD_READABLE.value, Outcome.OK),
    )
    observations = (*present, *reading.observations)
    return _judge(before, reading.card, observations, now)


def after_failure(before: Judged, message: str, now: float) -> Judged:
    """The card could not be read: what was known last stays, unhealthy."""
    return _failed(before, CheckName.CARD_READABLE, message, _known(before), now)


def after_vanishing(before: Judged, now: float) -> Judged:
    """The card left: its regions are missing."""
    card = _known(before)
    missing = tuple(
        replace(region, state=RegionState.MISSING, reason=NOT_THERE) for region in card.regions
    )
    return _failed(
        before, CheckName.CARD_PRESENT, "the card left", replace(card, regions=missing), now
    )


def _failed(before: Judged, check: CheckName, message: str, card: Card, now: float) -> Judged:
    others = tuple(item for item in before.observations if item.check != check.value)
    failed = Observation(check.value, Outcome.FAILED, message)
    return _judge(before, card, (*others, failed), now)


def _known(judged: Judged) -> Card:
    unread = Card(
        id=judged.found.id,
        backend=judged.found.backend,
        model="unknown card",
        notes=("it was never read to the end",),
    )
    return judged.card or unread


def _judge(before: Judged, card: Card, observations: tuple[Observation, ...], now: float) -> Judged:
    memory = judge(before.memory, observations, [region.id for region in card.regions], now)
    return Judged(before.found, _with_verdicts(card, memory), observations, memory)


def _with_verdicts(card: Card, memory: Memory) -> Card:
    regions = tuple(_region(region, memory) for region in card.regions)
    return replace(card, health=memory.verdict(None), regions=regions)


def _region(region: Region, memory: Memory) -> Region:
    return replace(region, health=memory.verdict(region.id))
