"""When a pool registers (again), and how soon: every way to lose the kubelet, as data."""

from dataclasses import replace

import pytest

from fpga_plugin.kubelet.sockets import SocketIdentity
from fpga_plugin.kubelet.supervision import Attempts, Observation, Registration, why_register

KUBELET, OTHER = SocketIdentity(1, 10, 100), SocketIdentity(1, 10, 101)
OWN = SocketIdentity(1, 11, 100)
REGISTERED = Registration(KUBELET, OWN, at=50.0)
WELL = Observation(KUBELET, OWN, streaming=True, streamed=True, now=60.0)


def test_nothing_is_done_while_all_is_well() -> None:
    assert why_register(REGISTERED, WELL) is None


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (replace(WELL, kubelet=OTHER), "kubelet_restarted"),
        (replace(WELL, own_socket=None), "own_socket_gone"),
        (replace(WELL, own_socket=OTHER), "own_socket_gone"),
        (replace(WELL, streaming=False), "stream_ended"),
        (replace(WELL, streaming=False, streamed=False), "stream_not_opened"),
        (replace(WELL, streaming=False, streamed=False, now=51.0), None),
        (replace(WELL, kubelet=None, own_socket=None, streaming=False), None),
    ],
)
def test_each_way_to_lose_the_kubelet_is_seen(seen: Observation, why: str | None) -> None:
    assert why_register(REGISTERED, seen) == why


def test_a_pool_that_was_never_registered_is_registered() -> None:
    assert why_register(None, WELL) == "not_registered"


def test_pauses_grow_to_ten_seconds_with_one_kubelet() -> None:
    attempts, pauses = Attempts(), []
    for _ in range(12):
        attempts = attempts.after_attempt(KUBELET, 0.0)
        pauses.append(next(t / 10 for t in range(1000) if attempts.due(KUBELET, t / 10)))
    assert pauses[:4] == [0.1, 0.2, 0.4, 0.8]
    assert pauses[-1] == 10.0


def test_a_new_kubelet_is_tried_at_once() -> None:
    attempts = Attempts().after_attempt(KUBELET, 0.0).after_attempt(KUBELET, 0.0)
    assert not attempts.due(KUBELET, 0.01)
    assert attempts.due(OTHER, 0.01)
    assert attempts.after_attempt(OTHER, 0.01).count == 1


def test_failures_are_forgotten_once_a_stream_has_lasted() -> None:
    attempts = Attempts().after_attempt(KUBELET, 0.0)
    assert attempts.after_success(4.9).count == 1
    assert attempts.after_success(5.0).due(KUBELET, 5.0)
