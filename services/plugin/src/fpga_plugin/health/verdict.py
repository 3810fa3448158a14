"""From observations to verdicts: pure, with hysteresis.

The inventory calls it after each reading of a card and keeps the memory. State table:

======================  =======================  =================  ============================
check                   failing                  unreadable         good again
======================  =======================  =================  ============================
essential               Unhealthy at once        Unhealthy at once  Healthy after 3 good polls
fatal, not essential    Unhealthy after 2 polls  shown as unknown   Healthy after 3 good polls
warning                 shown at once            shown as unknown   gone at once
======================  =======================  =================  ============================

The very first reading of a card is believed at once: there is nothing yet that one bad reading
could be an outlier of.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from fpga_common.domain.health import HealthStatus, Reason, Severity, Verdict
from fpga_plugin.health.checks import CHECKS, CheckSpec
from fpga_plugin.health.observation import Observation, Outcome

FATAL_AFTER: Final = 2
GOOD_AFTER: Final = 3
UNKNOWN: Final = "unknown"

Key = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class CheckState:
    """What one check of one subject has shown so far. ``since``: when it began to fail."""

    last: Observation
    bad: int = 0
    good: int = 0
    failing: bool = False
    since: float = 0.0

    @property
    def suspected(self) -> bool:
        """Whether it failed, but not often enough to count."""
        return self.bad > 0 and not self.failing


@dataclass(frozen=True, slots=True)
class Memory:
    """What the next judgement needs to know of the earlier ones; empty for a new card."""

    checks: Mapping[Key, CheckState] = field(default_factory=dict)
    verdicts: Mapping[str | None, Verdict] = field(default_factory=dict)
    judged: bool = False

    @property
    def suspicious(self) -> bool:
        """Whether another reading soon would decide something."""
        return any(state.suspected for state in self.checks.values())

    def verdict(self, region: str | None) -> Verdict:
        """The verdict of a region, of the whole card for None."""
        return self.verdicts.get(region, Verdict(HealthStatus.UNKNOWN, 0.0))


def judge(
    memory: Memory, observations: Iterable[Observation], regions: Iterable[str], now: float
) -> Memory:
    """The memory after one more reading, with the verdict of the card and of each region.

    A region's verdict has the card's own checks and its own; the card's has all. ``now`` is
    seconds since the epoch.
    """
    seen = {(item.check, item.region): item for item in observations}
    keys = list(dict.fromkeys([*memory.checks, *seen]))
    states = {key: _step(memory, key, seen.get(key), now) for key in keys}
    checks = {key: state for key, state in states.items() if key in seen or state.failing}
    verdicts: dict[str | None, Verdict] = {None: _verdict(memory, None, checks, now)}
    for region in regions:
        verdicts[region] = _verdict(memory, region, checks, now)
    return Memory(checks, verdicts, judged=True)


def _step(memory: Memory, key: Key, observation: Observation | None, now: float) -> CheckState:
    before = memory.checks.get(key)
    spec = CHECKS[key[0]]
    if observation is None:
        observation = Observation(key[0], Outcome.OK, region=key[1])
    if before is None:
        before = CheckState(observation)
    if observation.outcome is Outcome.OK:
        return _good(before, observation, spec)
    if observation.outcome is Outcome.UNREADABLE and not spec.essential:
        return replace(before, last=observation, bad=before.bad if before.failing else 0)
    return _bad(before, observation, _bad_polls_needed(spec, memory), now)


def _good(before: CheckState, observation: Observation, spec: CheckSpec) -> CheckState:
    good = before.good + 1
    needed = GOOD_AFTER if spec.severity is Severity.FATAL else 1
    if before.failing and good < needed:
        return replace(before, bad=0, good=good)
    return CheckState(observation)


def _bad(before: CheckState, observation: Observation, needed: int, now: float) -> CheckState:
    bad = before.bad + 1
    failing = before.failing or bad >= needed
    return CheckState(observation, bad, 0, failing, before.since or now)


def _bad_polls_needed(spec: CheckSpec, memory: Memory) -> int:
    patient = spec.severity is Severity.FATAL and not spec.essential and memory.judged
    return FATAL_AFTER if patient else 1


def _verdict(
    memory: Memory, subject: str | None, checks: Mapping[Key, CheckState], now: float
) -> Verdict:
    concerned = [
        state
        for (_, region), state in checks.items()
        if subject is None or region in (None, subject)
    ]
    reasons = tuple(reason for state in concerned for reason in _reasons(state, now))
    status = _status(reasons)
    before = memory.verdicts.get(subject)
    since = before.since if before is not None and before.status is status else now
    return Verdict(status, since, _with_known_since(reasons, before))


def _reasons(state: CheckState, now: float) -> list[Reason]:
    spec, last = CHECKS[state.last.check], state.last
    unknown = last.outcome is Outcome.UNREADABLE and not spec.essential
    if state.failing:
        observed = UNKNOWN if unknown else last.observed
        return [
            Reason(last.check, spec.severity, last.message, state.since, observed, last.expected)
        ]
    if unknown:
        return [Reason(last.check, Severity.WARNING, last.message, now, UNKNOWN, last.expected)]
    return []


def _with_known_since(reasons: tuple[Reason, ...], before: Verdict | None) -> tuple[Reason, ...]:
    """An unknown keeps the time since when it is unknown."""
    known = {} if before is None else {(r.check, r.message): r.since for r in before.reasons}
    return tuple(
        replace(reason, since=known.get((reason.check, reason.message), reason.since))
        for reason in reasons
    )


def _status(reasons: tuple[Reason, ...]) -> HealthStatus:
    if any(reason.severity is Severity.FATAL for reason in reasons):
        return HealthStatus.UNHEALTHY
    return HealthStatus.WARNING if reasons else HealthStatus.HEALTHY
