"""Reservations: what the overlay shows, and what another process finds."""

from pathlib import Path

import pytest

from fpga_common.domain.card import RegionState
from fpga_plugin.agent.reservations import Reservations
from support.agent_doubles import REGION, card


def _shown(reservations: Reservations, **changes: object) -> tuple[RegionState, str]:
    (region,) = reservations.apply(card(**changes)).regions
    return region.state, region.reason


def test_a_region_without_reservation_is_left_alone(tmp_path: Path) -> None:
    assert Reservations(tmp_path).apply(card()) == card()


def test_a_region_being_programmed_is_reserved_for_that_operation(tmp_path: Path) -> None:
    reservations = Reservations(tmp_path)
    reservations.reserve_for_programming(REGION, "load-1.1")
    assert _shown(reservations) == (RegionState.RESERVED, "programming: operation load-1.1")
    assert _shown(reservations, state=RegionState.UNUSABLE)[0] is RegionState.RESERVED

    reservations.release(REGION)
    assert _shown(reservations)[0] is RegionState.READY


def test_programming_comes_before_quarantine_and_quarantine_before_a_cordon(tmp_path: Path) -> None:
    reservations = Reservations(tmp_path)
    reservations.cordon(REGION, "maintenance")
    assert _shown(reservations) == (RegionState.RESERVED, "cordoned: maintenance")
    reservations.quarantine(REGION, "programming_rejected: CRC")
    assert _shown(reservations) == (RegionState.QUARANTINED, "programming_rejected: CRC")
    reservations.reserve_for_programming(REGION, "load-2.1")
    assert _shown(reservations)[0] is RegionState.RESERVED

    reservations.release(REGION)
    reservations.clear(REGION)
    assert _shown(reservations) == (RegionState.RESERVED, "cordoned: maintenance")
    reservations.uncordon(REGION)
    assert _shown(reservations)[0] is RegionState.READY


@pytest.mark.parametrize("state", [RegionState.MISSING, RegionState.UNUSABLE])
def test_a_fault_of_the_hardware_is_not_hidden_by_a_cordon(
    tmp_path: Path, state: RegionState
) -> None:
    reservations = Reservations(tmp_path)
    reservations.cordon(REGION, "")
    assert _shown(reservations, state=state)[0] is state


def test_another_process_finds_every_reservation(tmp_path: Path) -> None:
    reservations = Reservations(tmp_path)
    reservations.reserve_for_programming(REGION, "load-1.1")
    reservations.quarantine(REGION, "mismatch")
    reservations.cordon("other-r0", "")

    assert Reservations(tmp_path).reserved() == reservations.reserved()


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"",
        b"[]",
        b"null",
        b'{"programming": 5}',
        b'{"cordoned": {"x": 1}}',
        b"\xff\xfe",
        b"[" * 9999,
    ],
)
def test_after_a_damaged_file_every_region_is_quarantined_until_it_is_cleared(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "reservations.json").write_bytes(content)
    Reservations(tmp_path)

    reservations = Reservations(tmp_path)
    state, reason = _shown(reservations)
    assert state is RegionState.QUARANTINED
    assert "damaged" in reason
    assert _shown(reservations, state=RegionState.STATIC)[0] is RegionState.STATIC
    assert _shown(reservations, id="other-r0")[0] is RegionState.QUARANTINED

    reservations.clear(REGION)
    assert _shown(Reservations(tmp_path))[0] is RegionState.READY
    assert _shown(Reservations(tmp_path), id="other-r0")[0] is RegionState.QUARANTINED


def test_a_damaged_file_is_set_aside_for_whoever_wants_to_know(tmp_path: Path) -> None:
    (tmp_path / "reservations.json").write_bytes(b"{")
    Reservations(tmp_path)
    (aside,) = tmp_path.glob("reservations.json.unreadable-*")
    assert aside.read_bytes() == b"{"
