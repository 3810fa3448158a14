"""Sends reports: on change at once, else every 30 s, and again when the manager was away.

Started by ``serve``. Gets the node's state from a function; knows no inventory and no kubelet.
"""

import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from fpga_common.domain.errors import FpgaError
from fpga_common.observability.logging import get_logger
from fpga_plugin.manager_link import ManagerLink
from fpga_plugin.report.document import (
    Document,
    NodeState,
    Report,
    full_message,
    heartbeat_message,
    make_report,
)
from fpga_plugin.report.schedule import Sending, Told, after_sending, next_sending, pause_after

DEBOUNCE_SECONDS: Final = 0.1
LOOK_SECONDS: Final = 1.0
"""What nobody announces (a registration with the kubelet) is seen after at most this."""

CALL_SECONDS: Final = 10.0
_ANSWER_BYTES: Final = 1 << 20

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ReportChannel:
    """Puts one report."""

    link: ManagerLink
    node: str

    def put(self, message: Document) -> bool:
        """Send a report or heartbeat; True when the manager wants a full one.

        Raises the errors of ``manager_link``.
        """
        with self.link.request(
            "PUT",
            f"/internal/v1/nodes/{self.node}/report",
            timeout=CALL_SECONDS,
            body=json.dumps(message).encode(),
            headers={"Content-Type": "application/json"},
        ) as response:
            return _full_wanted(response.read(_ANSWER_BYTES))


class Reporter:
    """The reporting thread."""

    def __init__(
        self,
        channel: ReportChannel,
        state: Callable[[], NodeState],
        *,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._channel = channel
        self._state = state
        self._wall = wall
        self._changed = threading.Event()
        self._stopping = threading.Event()
        self._told = Told()
        self._failures = 0
        self._problem: str | None = None
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)

    @property
    def problem(self) -> str | None:
        """Why the manager does not have the newest report, None when it has."""
        return self._problem

    def start(self) -> None:
        """Report from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Report no more."""
        self._stopping.set()
        self._changed.set()
        if self._thread.is_alive():
            self._thread.join(CALL_SECONDS)

    def wake(self) -> None:
        """Say that something may have changed; returns at once."""
        self._changed.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._stopping.wait(self._report_safely())
            if self._failures == 0:
                self._wait_for_change()

    def _wait_for_change(self) -> None:
        if self._changed.wait(LOOK_SECONDS):
            self._stopping.wait(DEBOUNCE_SECONDS)
        self._changed.clear()

    def _report_safely(self) -> float:
        """Report where due; return the pause after it in seconds."""
        try:
            self._report()
        except FpgaError as error:
            return self._failed(error.code, error.message)
        # A node that reports nothing for one broken value would look dead.
        except Exception as error:
            log.exception("report_broke")
            return self._failed("internal", type(error).__name__)
        return 0.0

    def _report(self) -> None:
        report = make_report(self._state())
        sending = next_sending(self._told, report, time.monotonic())
        if sending is Sending.NOTHING:
            return
        full_wanted = self._channel.put(self._message(sending, report))
        self._told = after_sending(
            report, time.monotonic(), full_wanted=full_wanted and sending is Sending.HEARTBEAT
        )
        self._succeeded()

    def _message(self, sending: Sending, report: Report) -> Document:
        if sending is Sending.FULL:
            return full_message(report, self._wall())
        return heartbeat_message(report, self._wall())

    def _succeeded(self) -> None:
        if self._failures or self._problem is not None:
            log.info("manager_reached", after_failures=self._failures)
        self._failures, self._problem = 0, None

    def _failed(self, code: str, message: str) -> float:
        self._failures += 1
        self._told = replace(self._told, wants_full=True)
        problem = f"{code}: {message}"
        if problem != self._problem:
            log.warning("manager_not_reached", reason=problem)
        self._problem = problem
        return pause_after(self._failures, random.random())  # noqa: S311 - spreads load only


def _full_wanted(body: bytes) -> bool:
    try:
        answer: Any = json.loads(body)
    except ValueError:
        return False
    return isinstance(answer, dict) and bool(answer.get("full_report_wanted"))
