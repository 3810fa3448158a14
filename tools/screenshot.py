"""Makes docs/images/console.png from a running local platform; ``make screenshot`` calls it."""

import subprocess
import sys
from io import BytesIO
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from fpga_common.contract.loads import LoadCreate, LoadTarget
from fpga_common.domain.names import DEFAULT_RESOURCE
from fpga_common.testing.platform import LocalPlatform
from fpga_common.testing.sim import make_gbs
from fpga_common.testing.waiting import wait_for

REPOSITORY = Path(__file__).resolve().parents[1]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PROFILES = ("pac-a10", "n3000", "d5005")
AFUS = {
    "checksum": "7bab9a86c2f24d3ea9bd9d2d6c4c0f10",
    "regex": "2d1f6c3e5b8a49c7a0e4d9f3b7c61a52",
}


def main() -> int:
    """Take the pictures named on the command line, by default the README's."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    platform = LocalPlatform(
        nodes=["fpga-node-1", "fpga-node-2"], profiles=PROFILES, programming_seconds=0.5
    )
    with platform:
        _make_history(platform)
        _take(platform, folder)
    return 0


def _make_history(platform: LocalPlatform) -> None:
    first, second = (node.host.cards for node in platform.nodes.values())
    with platform.client() as client:
        for name, afu_id in AFUS.items():
            content = make_gbs(first[0].interface_id, afu_id, name=name)
            client.upload_bitstream(BytesIO(content), name=name)
        for node, card, name in (
            ("fpga-node-1", first[0], "checksum"),
            ("fpga-node-2", second[0], "regex"),
        ):
            target = LoadTarget(node=node, device=card.region_id)
            load = client.create_load(LoadCreate(bitstream=name, target=target))
            list(client.watch_load(load.id))
        kubelet = platform.nodes["fpga-node-1"].kubelet
        kubelet.run_pod("checksum-7c9f", "batch", limits={DEFAULT_RESOURCE: 1})
        second[1].overheat()
        second[2].lose_link_width()
        wait_for(
            lambda: client.overview().devices_by_health.get("unhealthy") == 1,
            timeout=30,
            what="the fault in the overview",
        )
        wait_for(lambda: client.overview().devices_held == 1, timeout=30, what="the held device")


def _take(platform: LocalPlatform, folder: Path) -> None:
    program = subprocess.run(
        [str(REPOSITORY / "tools" / "browser.sh"), "--install"],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    ).stdout.strip()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        page = browser.new_page(
            base_url=platform.console_url,
            viewport={"width": 1440, "height": 860},
            color_scheme="light",
        )
        _sign_in(page, platform.admin_token)
        for name, path in (("console", "/devices"), ("overview", "/"), ("loads", "/loads")):
            page.goto(path)
            page.screenshot(path=folder / f"{name}.png")
        browser.close()


def _sign_in(page: Page, token: str) -> None:
    page.goto("/sign-in")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")


if __name__ == "__main__":
    sys.exit(main())
