"""So many of something in so much time. Called by the API for what strangers may cause."""

import threading
import time


class Allowance:
    """At most ``count`` in any window of ``seconds``. Safe to use from several threads."""

    def __init__(self, count: int, seconds: float) -> None:
        self._count = count
        self._seconds = seconds
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._taken = 0

    def take(self) -> bool:
        """Take one; False when none is left in this window."""
        with self._lock:
            now = time.monotonic()
            if now - self._began >= self._seconds:
                self._began, self._taken = now, 0
            if self._taken >= self._count:
                return False
            self._taken += 1
            return True
