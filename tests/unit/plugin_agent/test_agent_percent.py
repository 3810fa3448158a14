"""The one number of an operation's bar."""

from hypothesis import given
from hypothesis import strategies as st

from fpga_common.domain.operation import Phase
from fpga_plugin.agent.percent import SHARES, overall_percent

_PHASES = [phase for phase in Phase if phase is not Phase.FAILED]


def test_the_phases_follow_one_another_without_gap_or_overlap() -> None:
    ends = [SHARES[phase] for phase in _PHASES]
    assert ends[0][0] == 0.0
    assert ends[-1] == (100.0, 100.0)
    assert [end for _, end in ends[:-1]] == [start for start, _ in ends[1:]]


@given(st.sampled_from(list(Phase)), st.floats(-1, 2), st.floats(0, 100))
def test_percent_never_falls_and_stays_within_its_range(
    phase: Phase, fraction: float, before: float
) -> None:
    assert before <= overall_percent(phase, fraction, before=before) <= 100.0


def test_a_failure_stays_where_the_operation_was() -> None:
    assert overall_percent(Phase.FAILED, 1.0, before=42.0) == 42.0
