"""How many browsers may follow a load at a time, so that threads are left for pages."""

import threading

from fpga_web.metrics import STREAMS


class StreamSlots:
    """A fixed number of streams; who gets none polls instead."""

    def __init__(self, number: int) -> None:
        self._free = threading.BoundedSemaphore(number)

    def take(self) -> bool:
        """Take a slot without waiting; False when all are taken."""
        taken = self._free.acquire(blocking=False)
        if taken:
            STREAMS.inc()
        return taken

    def give_back(self) -> None:
        """Return a slot."""
        STREAMS.dec()
        self._free.release()
