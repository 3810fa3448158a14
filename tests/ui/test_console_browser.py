"""The console in a real Chromium: live, by keyboard, without scripts, on a phone."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from fpga_common.contract.nodes import Device
from fpga_common.domain.load import LoadState
from fpga_common.domain.operation import Phase
from support import console_seed as seed
from support.console_browser import sign_in
from support.console_manager import ADMIN_TOKEN, ConsoleManager
from ui.conftest import Console, Watcher

pytestmark = pytest.mark.browser

FREE = "/devices/fpga-a/0000:5e:00.0-r0"
HELD = "/devices/fpga-a/0000:3b:00.0-r0"


def _every_page(manager: ConsoleManager) -> list[str]:
    loads = [f"/loads/{load.id}" for load in manager.loads]
    confirm = f"{HELD}/load?bitstream={seed.digest(2)}"
    filtered = "/devices?health=warning&sort=-node"
    lists = ["/", "/devices", filtered, "/loads", "/bitstreams", "/nodes"]
    return [*lists, FREE, HELD, confirm, *loads]


def test_an_administrator_signs_in_and_out(page: Page) -> None:
    sign_in(page, ADMIN_TOKEN)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto("/devices")
    expect(page).to_have_url(re.compile(r"/sign-in\?next="))


def test_a_wrong_token_is_refused_in_place(page: Page, watcher: Watcher) -> None:
    watcher.allowed.append("401")
    page.goto("/sign-in?next=/nodes")
    page.get_by_label("Token").fill("nonsense")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The manager does not know this token.")
    page.get_by_label("Token").fill(ADMIN_TOKEN)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Nodes")).to_be_visible()


def test_no_page_breaks_its_own_policy_or_logs_an_error(admin_page: Page, console: Console) -> None:
    for path in _every_page(console.manager):
        answer = admin_page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        assert admin_page.locator("h1").count() == 1, path
        assert admin_page.locator("main").count() == 1, path
        assert admin_page.locator("table:not(:has(caption))").count() == 0, path
        assert admin_page.locator("[style], style, script:not([src])").count() == 0, path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_a_phone(
    chromium: Browser, console: Console, watcher: Watcher, scheme: str
) -> None:
    context = chromium.new_context(
        base_url=console.url,
        viewport={"width": 360, "height": 740},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    watcher.watch(page)
    sign_in(page, ADMIN_TOKEN)
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    for path in _every_page(console.manager):
        page.goto(path)
        assert page.evaluate(wide) <= 0, path
    context.close()


def test_filters_work_at_once_and_stand_in_the_address(admin_page: Page) -> None:
    admin_page.goto("/devices")
    admin_page.get_by_label("Node").select_option("fpga-b")
    expect(admin_page).to_have_url(re.compile(r"/devices\?node=fpga-b$"))
    expect(admin_page.get_by_role("status").first).to_have_text("3 devices match")
    admin_page.get_by_label("Find").fill("d5005")
    expect(admin_page.get_by_role("status").first).to_have_text("1 device matches")
    expect(admin_page).to_have_url(re.compile(r"q=d5005"))
    expect(admin_page.get_by_label("Find")).to_be_focused()
    admin_page.reload()
    expect(admin_page.get_by_label("Find")).to_have_value("d5005")
    admin_page.go_back()
    expect(admin_page).to_have_url(re.compile(r"/devices\?node=fpga-b$"))
    expect(admin_page.locator("tbody tr")).to_have_count(3)


def test_columns_are_sorted_by_links_in_both_directions(admin_page: Page) -> None:
    admin_page.goto("/devices")
    admin_page.get_by_role("link", name="Node", exact=True).click()
    expect(admin_page.locator("th[aria-sort=ascending]")).to_have_text("Node")
    admin_page.get_by_role("link", name="Node", exact=True).click()
    expect(admin_page.locator("th[aria-sort=descending]")).to_have_text("Node")
    expect(admin_page.locator("tbody tr").first).to_contain_text("fpga-b")


def test_a_load_is_asked_for_and_watched_to_its_end(admin_page: Page, console: Console) -> None:
    page, manager = admin_page, console.manager
    page.goto(FREE)
    page.get_by_label("Bitstream", exact=True).select_option(label="crypto-gcm · AFU 7f2c6a1d…")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("region", name="What changes")).to_contain_text(seed.CRYPTO)
    page.get_by_role("button", name="Load crypto-gcm").click()
    expect(page.get_by_role("listitem").filter(has_text="Queued").first).to_be_visible()
    load = manager.loads[0]
    with page.expect_event("request", lambda r: r.url.endswith("/events")):
        page.reload()

    manager.advance(load.id, LoadState.PROGRAMMING, Phase.PROGRAMMING, 37.0)
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "37")
    expect(page.locator("li[aria-current=step]")).to_contain_text("Programming")
    manager.advance(load.id, LoadState.VERIFYING, Phase.VERIFYING, 96.0)
    expect(page.locator("li[aria-current=step]")).to_contain_text("Verifying")
    manager.end(load.id)
    expect(page.locator(".verdict")).to_contain_text("Succeeded")
    expect(page.get_by_role("progressbar")).to_have_count(0)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)


def test_a_load_is_polled_where_streams_are_refused(admin_page: Page, console: Console) -> None:
    load = next(load for load in console.manager.loads if load.state is LoadState.PROGRAMMING)
    admin_page.route("**/events", lambda route: route.fulfill(status=204))
    admin_page.goto(f"/loads/{load.id}")
    console.manager.advance(load.id, LoadState.PROGRAMMING, Phase.PROGRAMMING, 77.0)
    expect(admin_page.get_by_role("progressbar")).to_have_attribute("value", "77")
    console.manager.end(load.id)
    expect(admin_page.locator(".verdict")).to_contain_text("Succeeded")


def test_a_load_is_cancelled_in_the_browser(admin_page: Page, console: Console) -> None:
    load = next(load for load in console.manager.loads if load.state is LoadState.PROGRAMMING)
    admin_page.goto(f"/loads/{load.id}")
    admin_page.get_by_role("button", name="Cancel").click()
    expect(admin_page.locator(".verdict")).to_contain_text("Cancelled")
    expect(admin_page.get_by_role("button", name="Load again")).to_be_visible()


def test_a_card_that_breaks_shows_without_a_reload(admin_page: Page, console: Console) -> None:
    admin_page.goto("/devices?node=fpga-a")
    row = admin_page.locator("tbody tr").filter(has_text="0000:5e:00.0-r0")
    expect(row).to_contain_text("Healthy")
    _break(console.manager, 1)
    expect(row).to_contain_text("Unhealthy")
    expect(row).to_contain_text("FPGA is too hot")


def _break(manager: ConsoleManager, index: int) -> None:
    broken = manager.devices[index].model_dump(by_alias=True)
    broken["health"] = manager.devices[2].health.model_dump()
    manager.devices[index] = Device.model_validate(broken)


def test_a_lost_manager_is_announced_and_its_return_too(
    admin_page: Page, console: Console, watcher: Watcher
) -> None:
    watcher.allowed.append("503")
    admin_page.goto("/devices")
    console.manager.stop()
    expect(admin_page.locator("#connection")).to_contain_text("The manager cannot be reached.")
    expect(admin_page.locator("tbody tr")).to_have_count(6)
    expect(admin_page.locator("body")).to_have_class(re.compile("is-lost"))
    admin_page.goto("/nodes")
    expect(admin_page.get_by_role("heading", name="The manager cannot be reached")).to_be_visible()
    console.manager.start()
    expect(admin_page.get_by_role("heading", name="Nodes")).to_be_visible()
    expect(admin_page.locator("#connection")).to_be_hidden()


def test_a_load_is_followed_again_when_the_manager_returns(
    admin_page: Page, console: Console, watcher: Watcher
) -> None:
    watcher.allowed.append("503")
    load = next(load for load in console.manager.loads if load.state is LoadState.PROGRAMMING)
    admin_page.goto(f"/loads/{load.id}")
    console.manager.stop()
    expect(admin_page.locator("#connection")).to_be_visible()
    expect(admin_page.get_by_role("progressbar")).to_have_attribute("value", "42")
    console.manager.start()
    expect(admin_page.locator("#connection")).to_be_hidden()
    console.manager.end(load.id)
    expect(admin_page.locator(".verdict")).to_contain_text("Succeeded")


def test_a_hidden_page_asks_for_nothing_and_a_shown_one_at_once(admin_page: Page) -> None:
    admin_page.goto("/nodes")
    hide = "Object.defineProperty(document, 'hidden', {get: () => window.away, configurable: true})"
    admin_page.evaluate(f"window.away = true; {hide}")
    asked: list[str] = []
    admin_page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    admin_page.evaluate("htmx.trigger(document.getElementById('live'), 'every')")
    admin_page.evaluate("new Promise((done) => setTimeout(done, 50))")
    assert [path for path in asked if not path.startswith("/static/")] == []
    with admin_page.expect_request("**/nodes"):
        admin_page.evaluate(
            "window.away = false; document.dispatchEvent(new Event('visibilitychange'))"
        )


def test_without_scripts_pages_are_read_and_a_load_is_asked_for(
    chromium: Browser, console: Console
) -> None:
    context = chromium.new_context(base_url=console.url, java_script_enabled=False)
    page = context.new_page()
    sign_in(page, ADMIN_TOKEN)
    page.goto("/devices")
    page.get_by_label("Use").select_option("no")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("status").first).to_have_text("5 devices match")
    page.get_by_role("link", name="0000:5e:00.0-r0").first.click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name=re.compile("^Load ")).click()
    expect(page.locator(".verdict")).to_contain_text("Queued")
    context.close()


def test_the_keyboard_reaches_the_content_first(admin_page: Page) -> None:
    admin_page.goto("/devices")
    admin_page.keyboard.press("Tab")
    skip = admin_page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    admin_page.keyboard.press("Enter")
    admin_page.keyboard.press("Tab")
    expect(admin_page.locator("main :focus")).to_have_count(1)
    outline = admin_page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_the_theme_can_be_chosen(admin_page: Page) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    admin_page.get_by_role("button", name="Dark").click()
    dark = admin_page.evaluate(ground)
    admin_page.get_by_role("button", name="Light").click()
    assert admin_page.evaluate(ground) != dark
    expect(admin_page.get_by_role("button", name="Light")).to_have_attribute("aria-pressed", "true")


def test_a_bitstream_is_uploaded_in_the_browser(admin_page: Page) -> None:
    admin_page.goto("/bitstreams")
    mime = "application/octet-stream"
    content = FilePayload(name="fresh.gbs", mimeType=mime, buffer=b"XeonFPGA" * 9)
    admin_page.get_by_label("File").set_input_files([content])
    admin_page.get_by_role("button", name="Upload").click()
    expect(admin_page.get_by_role("rowheader", name="fresh")).to_be_visible()
    expect(admin_page.get_by_text("fresh is stored.")).to_be_visible()


def test_what_the_manager_says_never_runs(admin_page: Page, console: Console) -> None:
    console.manager.devices[0].model = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    admin_page.goto("/devices")
    expect(admin_page.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 1280, 1024])
def test_every_value_stands_below_its_heading(admin_page: Page, width: int) -> None:
    admin_page.set_viewport_size({"width": width, "height": 800})
    for path in ("/devices", "/loads", "/bitstreams", "/nodes"):
        admin_page.goto(path)
        shown = "row => [...row.children].filter(cell => cell.offsetParent).length"
        headings = admin_page.locator("thead tr").evaluate(shown)
        assert admin_page.locator("tbody tr").first.evaluate(shown) == headings, path
