"""The API's process: starting, waiting, degrading, ending."""

import os
import shutil
import signal
import sqlite3
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openapi_spec_validator import validate

from fpga_common.testing.processes import Process
from fpga_common.testing.redis_server import RedisServer
from fpga_common.testing.waiting import free_port, wait_for
from support.node_reports import card, report
from support.running_manager import ADMIN_TOKEN, COMMAND, RunningManager

REGION = "0000:3b:00.0-r0"


@pytest.fixture
def lonely() -> Iterator[RunningManager]:
    """A manager without Redis and without a migrated ledger."""
    running = RunningManager(database={"busy_seconds": 0.3})
    try:
        yield running
    finally:
        running.stop()
        shutil.rmtree(running.folder)


def get(manager: RunningManager, path: str) -> httpx2.Response:
    return httpx2.get(
        f"{manager.url}{path}", headers={"Authorization": f"Bearer {ADMIN_TOKEN}"}, timeout=30
    )


def components(manager: RunningManager) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in get(manager, "/api/v1/system").json()["components"]}


def test_without_a_migrated_ledger_it_waits_says_so_and_goes_on_by_itself(
    lonely: RunningManager,
) -> None:
    lonely.start()

    assert get(lonely, "/healthz").status_code == 200
    unready = get(lonely, "/readyz")
    assert (unready.status_code, unready.json()["code"]) == (503, "ledger_unavailable")
    assert unready.headers["Retry-After"]
    assert get(lonely, "/api/v1/nodes").status_code == 503
    wait_for(lambda: "waiting_for_ledger" in lonely.log(), timeout=30)

    lonely.run_migrate_command()
    assert get(lonely, "/readyz").status_code == 200
    assert get(lonely, "/api/v1/nodes").json()["items"] == []


def test_without_redis_everything_works_and_system_says_that_it_is_away(
    lonely: RunningManager,
) -> None:
    lonely.migrate()
    lonely.start()
    token = lonely.add_node_token("n1")

    answer = httpx2.put(
        f"{lonely.url}/internal/v1/nodes/n1/report",
        content=report("n1", card()).model_dump_json(by_alias=True),
        headers={"Authorization": f"Bearer {token}"},
        timeout=30,
    )

    assert answer.status_code == 200, answer.text
    device = get(lonely, f"/api/v1/devices/n1/{REGION}").json()
    assert (device["stale"], device["health"]["status"]) == (False, "healthy")
    state = components(lonely)
    assert (state["ledger"]["ok"], state["redis"]["ok"]) == (True, False)
    assert state["redis"]["detail"]


def test_redis_that_comes_and_goes_is_noticed(lonely: RunningManager) -> None:
    server = RedisServer(lonely.folder / "redis")
    running = RunningManager(redis_url=server.url)
    try:
        running.migrate()
        running.start()
        assert not components(running)["redis"]["ok"]
        server.start()
        wait_for(lambda: components(running)["redis"]["ok"], timeout=30)
        server.stop()
        wait_for(lambda: not components(running)["redis"]["ok"], timeout=30)
        assert get(running, "/api/v1/overview").status_code == 200
    finally:
        running.stop()
        server.stop()
        shutil.rmtree(running.folder)


def test_a_locked_ledger_is_503_and_passes(lonely: RunningManager) -> None:
    lonely.migrate()
    lonely.start()
    body = {"name": "t", "role": "viewer"}

    def create() -> httpx2.Response:
        headers = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
        url = f"{lonely.url}/api/v1/tokens"
        return httpx2.post(url, json=body, headers=headers, timeout=30)

    lock = sqlite3.connect(lonely.folder / "ledger.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    refused = create()
    lock.execute("ROLLBACK")
    lock.close()

    assert (refused.status_code, refused.json()["code"]) == (503, "ledger_unavailable")
    assert create().status_code == 201


def test_sigterm_and_sigint_end_it_with_exit_code_0(lonely: RunningManager) -> None:
    lonely.migrate()
    process = lonely.start().process
    assert process is not None
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(30) == 0

    lonely.start()
    assert get(lonely, "/healthz").status_code == 200
    assert lonely.stop() == 0


def test_it_speaks_tls_when_it_has_a_certificate(lonely: RunningManager) -> None:
    folder = lonely.folder / "trust"
    subprocess.run(
        [COMMAND, "bootstrap", "--directory", str(folder), "--host", "127.0.0.1"],
        check=True,
        capture_output=True,
    )
    secure = RunningManager(
        api={
            "tls_cert_file": str(folder / "manager-server.crt"),
            "tls_key_file": str(folder / "manager-server.key"),
        }
    )
    try:
        secure.migrate()
        secure.start()
        verify = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        answer = httpx2.get(f"https://127.0.0.1:{secure.port}/readyz", verify=verify, timeout=30)
        assert answer.status_code == 200
    finally:
        secure.stop()
        shutil.rmtree(secure.folder)


def test_metrics_have_a_port_of_their_own_when_asked() -> None:
    port = free_port()
    running = RunningManager(metrics={"bind": f"127.0.0.1:{port}"})
    try:
        running.migrate()
        running.start()
        get(running, "/healthz")
        text = wait_for(lambda: httpx2.get(f"http://127.0.0.1:{port}/metrics").text)
        assert 'fpga_manager_http_requests_total{method="GET",route="/healthz"' in text
    finally:
        running.stop()
        shutil.rmtree(running.folder)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("api: {bnd: x}", "api.bnd"),
        ("api: {threads: many}", "api.threads"),
        ("{", "--config"),
        ("database: {url: 'mysql://root:secret@db/x'}", "database.url"),
    ],
)
def test_a_broken_configuration_is_one_line_and_exit_code_2(
    tmp_path: Path, text: str, key: str
) -> None:
    config = tmp_path / "manager.yaml"
    config.write_text(text)

    done = subprocess.run(
        [COMMAND, "--config", str(config), "api"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert key in done.stderr
    assert "secret" not in done.stderr


def test_the_served_openapi_document_is_valid_3_1(manager: RunningManager) -> None:
    document = httpx2.get(f"{manager.url}/api/v1/openapi.json").json()

    validate(document)
    assert document["openapi"].startswith("3.1")


def test_every_error_is_a_problem_with_the_requests_id(manager: RunningManager) -> None:
    missing = httpx2.get(f"{manager.url}/nowhere", headers={"X-Request-Id": "my-id"})
    wrong_method = httpx2.patch(f"{manager.url}/api/v1/nodes")

    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    assert (wrong_method.status_code, wrong_method.json()["code"]) == (405, "method_not_allowed")
    assert missing.json()["instance"] == missing.headers["X-Request-Id"] == "my-id"
    assert "GET" in wrong_method.headers["Allow"]


def test_a_problems_type_leads_to_a_page_that_explains_it(manager: RunningManager) -> None:
    kind = httpx2.get(f"{manager.url}/api/v1/nodes").json()["type"]

    page = httpx2.get(f"{manager.url}{kind}")

    assert page.status_code == 200
    assert "Bearer" in page.text
    assert httpx2.get(f"{manager.url}/problems/made-up").status_code == 404


def test_answers_carry_the_headers_that_keep_a_browser_careful(manager: RunningManager) -> None:
    answer = httpx2.get(f"{manager.url}/healthz")

    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_metrics_count_by_route_and_never_by_path(manager: RunningManager) -> None:
    httpx2.get(f"{manager.url}/api/v1/nodes/some-unheard-of-node")
    httpx2.get(f"{manager.url}/some/unheard/of/path")

    text = httpx2.get(f"{manager.url}/metrics").text

    assert 'route="/api/v1/nodes/<node>",status="401"' in text
    assert 'route="unmatched"' in text
    assert "unheard" not in text


@pytest.mark.parametrize("part", ["api", "worker", "reconciler"])
def test_sigterm_while_it_still_starts_ends_it_with_exit_code_0(
    lonely: RunningManager, part: str
) -> None:
    command = [COMMAND, "--config", str(lonely.settings), part]
    with Process(part, command, log=lonely.folder / f"{part}.log") as process:
        wait_for(lambda: _catches_sigterm(process.pid), timeout=60, what="its first handler")
        process.terminate()
        assert process.wait(30) == 0, process.tail()


def _catches_sigterm(pid: int) -> bool:
    """Whether a process has installed a handler, as the kernel tells it."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
