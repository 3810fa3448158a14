"""The console in front of the real manager, worker and simulated nodes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from fpga_common.testing.platform import LocalPlatform
from fpga_common.testing.sim import make_gbs
from support.console_browser import sign_in
from ui.conftest import Watcher

pytestmark = pytest.mark.browser

AFU = "5e0c7c1d9b7a4e0f8a6d2c3b4a595847"


@pytest.fixture(scope="module")
def platform() -> Iterator[LocalPlatform]:
    """Two nodes with two cards each."""
    with LocalPlatform(programming_seconds=1.0) as running:
        yield running


@pytest.fixture
def platform_page(chromium: Browser, platform: LocalPlatform) -> Iterator[Page]:
    """A page of the platform's console, signed in as the administrator."""
    watcher = Watcher(f"127.0.0.1:{platform.web_port}")
    context = chromium.new_context(base_url=platform.console_url)
    page = context.new_page()
    watcher.watch(page)
    sign_in(page, platform.admin_token)
    yield page
    context.close()
    watcher.require_clean()


def test_a_bitstream_is_uploaded_loaded_and_watched_to_its_verified_end(
    platform_page: Page, platform: LocalPlatform, tmp_path: Path
) -> None:
    page = platform_page
    card = platform.nodes["sim-a"].host.cards[0]
    file = tmp_path / "blur.gbs"
    file.write_bytes(make_gbs(card.interface_id, AFU))
    page.goto("/bitstreams")
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("rowheader", name="blur")).to_be_visible()

    page.goto(f"/devices/sim-a/{card.region_id}")
    page.get_by_label("Bitstream", exact=True).select_option(index=0)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Load blur").click()
    expect(page.locator(".verdict")).to_contain_text("Succeeded")
    expect(page.locator(".timeline .done")).to_have_count(7)
    page.goto(f"/devices/sim-a/{card.region_id}")
    expect(page.get_by_role("region", name="AFU", exact=True)).to_contain_text(AFU)


def test_a_card_that_overheats_is_unhealthy_and_heals(
    platform_page: Page, platform: LocalPlatform
) -> None:
    page, card = platform_page, platform.nodes["sim-b"].host.cards[1]
    page.goto("/devices?node=sim-b")
    row = page.locator("tbody tr").filter(has_text=card.region_id)
    expect(row).to_contain_text("Healthy")
    card.overheat()
    expect(row).to_contain_text("Unhealthy")
    card.heal()
    expect(row.locator("td").first).to_contain_text("Healthy")


def test_every_page_of_the_real_manager_is_shown(platform_page: Page) -> None:
    for path, heading in (
        ("/", "Overview"),
        ("/devices?held=no&health=healthy&state=ready&sort=-node", "Devices"),
        ("/loads?state=succeeded", "Loads"),
        ("/bitstreams", "Bitstreams"),
        ("/nodes", "Nodes"),
    ):
        platform_page.goto(path)
        expect(platform_page.get_by_role("heading", name=heading, level=1)).to_be_visible()
