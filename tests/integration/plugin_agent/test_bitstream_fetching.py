"""Fetching from a manager that is slow, onto a disk that is full."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fpga_common.domain.operation import Failure, FailureCode, Phase
from fpga_common.testing.waiting import wait_for
from fpga_plugin.agent.fetching import BitstreamCache, store
from fpga_plugin.agent.journal import Journal
from fpga_plugin.agent.operation import Operation, first_event
from fpga_plugin.failures import OperationFailed
from fpga_plugin.manager_link import ManagerLink
from fpga_plugin.settings import ManagerSettings
from support.agent_doubles import request

SIZE = 1 << 24
HEAD = f"HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n".encode()
CANCELLED = Failure(FailureCode.CANCELLED, "cancelled by ada")


class TricklingManager:
    """Promises megabytes and sends a byte at a time, until the other side is gone."""

    def __init__(self) -> None:
        self.sent = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._answer, name="trickle", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._listener.close()
        self._thread.join(10.0)

    def _answer(self) -> None:
        connection, _ = self._listener.accept()
        with connection:
            try:
                connection.recv(4096)
                connection.sendall(HEAD)
                while self.sent < SIZE:
                    connection.sendall(b"x")
                    self.sent += 1
                    threading.Event().wait(0.005)
            except OSError:
                return


def test_a_disk_that_takes_no_more_is_named_and_not_the_manager() -> None:
    with (
        Path("/dev/full").open("wb", buffering=0) as disk,
        pytest.raises(OperationFailed) as failed,
    ):
        store(disk, b"content")
    assert failed.value.failure.code is FailureCode.FETCH_FAILED
    assert "cannot store the bitstream" in failed.value.message
    assert "No space left" in failed.value.message


@pytest.fixture
def manager() -> Iterator[TricklingManager]:
    manager = TricklingManager()
    yield manager
    manager.close()


def _operation(folder: Path) -> Operation:
    wanted = request(bitstream=replace(request().bitstream, size_bytes=SIZE))
    accepted = first_event(wanted)
    operation = Operation(wanted, Journal(folder).begin(wanted, accepted), (accepted,))
    operation.enter(Phase.FETCHING, "fetching")
    return operation


def test_a_manager_that_sends_a_byte_at_a_time_does_not_hold_up_a_cancel(
    manager: TricklingManager, tmp_path: Path
) -> None:
    operation = _operation(tmp_path)
    cache = BitstreamCache(tmp_path, ManagerLink(ManagerSettings(url=manager.url)))
    failures: list[OperationFailed] = []

    def fetch() -> None:
        with pytest.raises(OperationFailed) as failed:
            cache.fetch(operation)
        failures.append(failed.value)

    fetching = threading.Thread(target=fetch)
    fetching.start()
    wait_for(lambda: manager.sent > 2)
    operation.request_stop(CANCELLED)
    fetching.join(30.0)

    assert [failure.failure for failure in failures] == [CANCELLED]
    assert list((tmp_path / "bitstreams").iterdir()) == []
