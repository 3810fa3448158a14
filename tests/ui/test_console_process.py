"""The console as a process: its configuration, and how it ends."""

import subprocess
from pathlib import Path

import httpx2
import pytest

from fpga_common.testing.waiting import free_port, wait_for
from support.console_manager import ADMIN_TOKEN, ConsoleManager
from support.console_process import console_command, start_console


def _run(tmp_path: Path, text: str) -> subprocess.CompletedProcess[str]:
    config = tmp_path / "web.yaml"
    config.write_text(text)
    return subprocess.run(
        console_command(config), capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("bindd: 127.0.0.1:8000", "bindd", "unknown key"),
        ("manager: {urll: http://x}", "manager.urll", "unknown key"),
        ("manager: {url: ftp://x}", "manager.url", "'ftp://x'"),
        ("bind: nowhere", "bind", "host:port"),
        ("threads: many", "threads", "'many'"),
        ("log: {level: loud}", "log.level", "'loud'"),
        ("secret_key_file: /does/not/exist", "secret_key_file", "/does/not/exist"),
        (
            "manager: {url: https://localhost, ca_file: /does/not/exist}",
            "manager.ca_file",
            "/does/not/exist",
        ),
        ("[1, 2]", "web.yaml", "mapping"),
        ("a: [", "web.yaml", "expected"),
    ],
)
def test_a_broken_configuration_ends_with_2_and_one_line_that_names_the_key(
    tmp_path: Path, text: str, key: str, said: str
) -> None:
    done = _run(tmp_path, text)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("{")]

    assert done.returncode == 2
    assert len(lines) == 1
    assert key in lines[0]
    assert said in lines[0]


def test_the_environment_wins_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FPGA_WEB_LOG__LEVEL", "quiet")
    done = _run(tmp_path, "log: {level: info}")
    assert done.returncode == 2
    assert "log.level: found 'quiet'" in done.stderr


def test_sigterm_ends_it_with_0_also_while_a_browser_follows_a_load(tmp_path: Path) -> None:
    with (
        ConsoleManager() as manager,
        start_console(tmp_path, manager.url) as (process, url),
        httpx2.Client(base_url=url, headers={"Origin": url}) as client,
    ):
        client.post("/sign-in", data={"token": ADMIN_TOKEN})
        with client.stream("GET", f"/loads/{manager.loads[2].id}/events") as stream:
            next(stream.iter_lines())
            process.terminate()
            assert process.wait(15) == 0


def test_it_starts_without_the_manager_and_serves_metrics_on_their_own_port(
    tmp_path: Path,
) -> None:
    metrics, nowhere = free_port(), f"http://127.0.0.1:{free_port()}"
    settings = {"metrics": {"bind": f"127.0.0.1:{metrics}"}}
    with start_console(tmp_path, nowhere, **settings) as (_, url):
        assert wait_for(lambda: httpx2.get(f"{url}/healthz").text == "ok\n")
        text = httpx2.get(f"http://127.0.0.1:{metrics}/metrics").text
    assert 'fpga_web_requests_total{endpoint="health.healthz",status="200"}' in text
