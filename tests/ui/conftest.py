"""The console as a real process in front of the tests' manager, and a real Chromium before it."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from fpga_common.testing.processes import Process
from support.console_browser import sign_in
from support.console_manager import ADMIN_TOKEN, ConsoleManager
from support.console_process import start_console

ROOT: Final = Path(__file__).resolve().parents[2]
CHROMIUM_ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass(slots=True)
class Console:
    """A running console and its manager."""

    url: str
    process: Process
    manager: ConsoleManager
    clients: list[httpx2.Client] = field(default_factory=list)

    def client(self) -> httpx2.Client:
        """A browser's HTTP without the browser: same origin, keeps cookies, follows nothing."""
        client = httpx2.Client(base_url=self.url, headers={"Origin": self.url}, timeout=20)
        self.clients.append(client)
        return client

    def close_clients(self) -> None:
        """Close what a test opened."""
        while self.clients:
            self.clients.pop().close()

    def signed_in(self, token: str = ADMIN_TOKEN) -> httpx2.Client:
        """The same, signed in."""
        client = self.client()
        answer = client.post("/sign-in", data={"token": token})
        assert answer.status_code == 303, answer.text
        return client


@dataclass
class Watcher:
    """What a page did wrong: script errors, refused resources, requests to other hosts."""

    host: str
    found: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Listen to a page."""
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.found.append(f"script error: {error}"))
        page.on("request", self._request)

    def require_clean(self) -> None:
        """Fail with everything that was not allowed."""
        bad = [text for text in self.found if not any(part in text for part in self.allowed)]
        assert not bad, "\n".join(bad)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.found.append(f"console {message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        if urlsplit(request.url).netloc not in ("", self.host):
            self.found.append(f"request to another host: {request.url}")


@pytest.fixture(scope="session")
def _running_console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    folder = tmp_path_factory.mktemp("console")
    with ConsoleManager() as manager, start_console(folder, manager.url) as (process, url):
        yield Console(url, process, manager)


@pytest.fixture
def console(_running_console: Console) -> Iterator[Console]:
    """The console with a freshly seeded manager behind it."""
    _running_console.process.require_running()
    _running_console.manager.reset()
    yield _running_console
    _running_console.close_clients()


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Where Chromium is. Without one, tests are skipped with how to get it; in CI they fail."""
    done = subprocess.run(
        [str(ROOT / "tools/browser.sh")], capture_output=True, text=True, check=False, timeout=60
    )
    if done.returncode != 0:
        reason = f"browser tests need Chromium. {done.stderr.strip()}"
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return done.stdout.strip()


@pytest.fixture(scope="session")
def chromium(chromium_path: str) -> Iterator[Browser]:
    """A headless Chromium for all tests of this worker."""
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path, args=list(CHROMIUM_ARGUMENTS)
        )
        yield browser
        browser.close()


@pytest.fixture
def watcher(console: Console) -> Iterator[Watcher]:
    """Fails a test whose pages did something wrong."""
    watching = Watcher(urlsplit(console.url).netloc)
    yield watching
    watching.require_clean()


@pytest.fixture
def page(chromium: Browser, console: Console, watcher: Watcher) -> Iterator[Page]:
    """A new browser profile's page, not signed in."""
    context = chromium.new_context(base_url=console.url, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(30_000)
    opened = context.new_page()
    watcher.watch(opened)
    yield opened
    context.close()


@pytest.fixture
def admin_page(page: Page) -> Page:
    """The same, signed in as an administrator, on the overview."""
    sign_in(page, ADMIN_TOKEN)
    return page
