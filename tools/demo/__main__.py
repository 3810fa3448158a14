"""Runs the demo. ``--once`` ends after the story; else it stays up until Ctrl-C."""

import argparse
import signal
import sys
import tempfile
import threading
from pathlib import Path

from demo.narrator import Narrator
from demo.story import Story
from fpga_common.domain.names import API_PLAIN_PORT, WEB_PORT
from fpga_common.testing.platform import LocalPlatform


def main() -> int:
    """Run it; 0 when the story ended well."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--once", action="store_true", help="end after the story")
    parser.add_argument("--programming-seconds", type=float, default=3.0)
    options = parser.parse_args()
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: _interrupt(stopped))
    try:
        return _run(options.once, options.programming_seconds, stopped)
    except KeyboardInterrupt:
        print("\nstopped; nothing stays running", flush=True)
        return 130


def _interrupt(stopped: threading.Event) -> None:
    if not stopped.is_set():
        stopped.set()
        raise KeyboardInterrupt


def _run(once: bool, programming_seconds: float, stopped: threading.Event) -> int:
    narrator = Narrator()
    narrator.say("starting API, worker, reconciler, console, Redis, two nodes …")
    platform = LocalPlatform(
        api_port=API_PLAIN_PORT, web_port=WEB_PORT, programming_seconds=programming_seconds
    )
    with platform, tempfile.TemporaryDirectory(prefix="fpga-demo-") as folder:
        story = Story(platform, narrator, Path(folder))
        story.tell()
        _invite(narrator, platform)
        if once:
            narrator.result(story.result)
        else:
            narrator.say("Ctrl-C ends everything.")
            _wait(stopped)
    return 0


def _invite(narrator: Narrator, platform: LocalPlatform) -> None:
    narrator.chapter("Look around")
    narrator.say(f"console  {platform.console_url}")
    narrator.say(f"token    {platform.admin_token}")
    narrator.say(f"API      {platform.api_url}/api/v1/openapi.json")


def _wait(stopped: threading.Event) -> None:
    try:
        while not stopped.wait(3600):
            pass
    except KeyboardInterrupt:
        print("\nending everything …", flush=True)


if __name__ == "__main__":
    sys.exit(main())
