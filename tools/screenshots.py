"""Takes the pictures of the console that the documentation shows, in docs/images.

Run by hand after the console's look changed: ``.venv/bin/python tools/screenshots.py``. The cluster
in the pictures is the one of the console's tests.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, sync_playwright

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from fpga_common.domain.load import LoadState  # noqa: E402
from support.console_browser import sign_in  # noqa: E402
from support.console_manager import ADMIN_TOKEN, ConsoleManager  # noqa: E402
from support.console_process import start_console  # noqa: E402

IMAGES: Final = ROOT / "docs/images"
SIZE: Final[dict[str, tuple[int, int]]] = {"desktop": (1280, 800), "phone": (390, 844)}

Scheme = Literal["light", "dark"]


def main() -> int:
    """Take every picture."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        ConsoleManager() as manager,
        start_console(Path(folder), manager.url) as (_, url),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        load = next(load for load in manager.loads if load.state is LoadState.PROGRAMMING)
        device = "/devices/fpga-a/0000:86:00.0-r0"
        _take(browser, url, "/", "console-overview", "light")
        _take(browser, url, "/", "console-overview-dark", "dark")
        _take(browser, url, "/devices", "console-devices", "light")
        _take(browser, url, device, "console-device", "dark")
        _take(browser, url, f"/loads/{load.id}", "console-load", "light")
        _take(browser, url, "/devices", "console-phone", "light", size="phone")
        browser.close()
    return 0


def _take(
    browser: Browser, url: str, path: str, name: str, scheme: Scheme, *, size: str = "desktop"
) -> None:
    width, height = SIZE[size]
    context = browser.new_context(
        base_url=url, viewport={"width": width, "height": height}, color_scheme=scheme
    )
    page = context.new_page()
    sign_in(page, ADMIN_TOKEN)
    page.goto(path)
    page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")
    context.close()
    print(f"docs/images/{name}.png")


def _chromium() -> str:
    found = subprocess.run(
        [str(ROOT / "tools/browser.sh")], stdout=subprocess.PIPE, text=True, check=True
    )
    return found.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
