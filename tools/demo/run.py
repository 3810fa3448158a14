"""Starts the platform, tells the story, invites to look around, and ends everything."""

import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from demo.narrator import Narrator
from demo.story import Story
from fpga_common.domain.names import API_PLAIN_PORT, WEB_PORT
from fpga_common.testing.platform import LocalPlatform
from fpga_common.testing.waiting import Cancelled

__all__ = ["Cancelled", "run"]


def run(once: bool, programming_seconds: float, stopped: threading.Event) -> int:
    """The demo from start to end; 0 when the story ended well.

    Raises:
        Cancelled: ``stopped`` was set before the story's end; everything was ended.
    """
    narrator = Narrator()
    narrator.say("starting API, worker, reconciler, console, Redis, two nodes …")
    platform = LocalPlatform(
        api_port=API_PLAIN_PORT,
        web_port=WEB_PORT,
        programming_seconds=programming_seconds,
        cancelled=stopped,
    )
    with platform, tempfile.TemporaryDirectory(prefix="fpga-demo-") as folder:
        story = Story(platform, narrator, Path(folder), stopped)
        story.tell()
        _invite(narrator, platform)
        if once:
            narrator.result(story.result)
        else:
            _lend(narrator, platform, story.another_bitstream())
            _stay(narrator, stopped)
    return 0


def _invite(narrator: Narrator, platform: LocalPlatform) -> None:
    narrator.chapter("Look around")
    narrator.say(f"console  {platform.console_url}{_instead(platform.web_port, WEB_PORT)}")
    narrator.say(f"token    {platform.admin_token}")
    narrator.say(
        f"API      {platform.api_url}/api/v1/openapi.json"
        f"{_instead(platform.api_port, API_PLAIN_PORT)}"
    )


def _lend(narrator: Narrator, platform: LocalPlatform, bitstream: Path) -> None:
    narrator.say(f"to load  {bitstream}")
    narrator.say(
        f"fpgactl  export FPGACTL_URL={platform.api_url}"
        f" FPGACTL_TOKEN_FILE={platform.admin_token_file}; .venv/bin/fpgactl devices"
    )


def _instead(port: int, wished: int) -> str:
    return "" if port == wished else f"  (port {wished} is in use)"


def _stay(narrator: Narrator, stopped: threading.Event) -> None:
    narrator.say("Ctrl-C ends everything.")
    while not stopped.wait(3600):
        pass
    with suppress(OSError):  # the terminal may be what went away
        print("\nending everything …", flush=True)
