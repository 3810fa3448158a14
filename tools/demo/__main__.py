"""``python -m demo``: listens for Ctrl-C before anything else, then runs the demo.

``--once`` ends after the story; else it stays up until Ctrl-C.
"""

import argparse
import signal
import sys
import threading
from contextlib import suppress

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> int:
    """Run it; 0 when the story ended well."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--once", action="store_true", help="end after the story")
    parser.add_argument("--programming-seconds", type=float, default=3.0)
    options = parser.parse_args()
    stopped = threading.Event()
    _listen(stopped)
    from demo.run import Cancelled, run

    try:
        return run(options.once, options.programming_seconds, stopped)
    except Cancelled:
        with suppress(OSError):  # the terminal may be what went away
            print("\nstopped; nothing stays running", flush=True)
        return 130


def _listen(stopped: threading.Event) -> None:
    """A signal asks for the end, which comes between two steps; ``nohup`` stays in force."""
    for number in STOP_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: stopped.set())


if __name__ == "__main__":
    sys.exit(main())
