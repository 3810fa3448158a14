"""What the doctor says of a state folder, of identities and of a registration."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fpga_plugin.agent.certificate import ensure_certificate
from fpga_plugin.agent.reservations import Reservations
from fpga_plugin.doctor.finding import Finding, Outcome
from fpga_plugin.doctor.kubelet import registered
from fpga_plugin.doctor.manager import check_agent
from fpga_plugin.doctor.state import check_state
from fpga_plugin.settings import AgentSettings, MetricsSettings, PluginSettings, PoolSettings

REGION = "0000:3b:00.0-r0"


def _settings(folder: Path) -> PluginSettings:
    return PluginSettings("node-a", state_dir=folder)


def _found(folder: Path) -> dict[str, Finding]:
    return {finding.check: finding for finding in check_state(_settings(folder))}


def test_an_orderly_state_folder_is_one_good_line(tmp_path: Path) -> None:
    findings = list(check_state(_settings(tmp_path)))
    assert [finding.outcome for finding in findings] == [Outcome.OK]


def test_an_absent_state_folder_is_a_failure(tmp_path: Path) -> None:
    assert _found(tmp_path / "absent")["state folder"].outcome is Outcome.FAILED


def test_a_region_that_no_pod_gets_is_named_with_the_reason(tmp_path: Path) -> None:
    reservations = Reservations(tmp_path)
    reservations.quarantine(REGION, "verification_mismatch: shows another AFU")
    reservations.cordon("other-r0", "maintenance")
    found = _found(tmp_path)
    assert found[f"region {REGION}"].outcome is Outcome.WARNING
    assert "shows another AFU" in found[f"region {REGION}"].message
    assert found["region other-r0"].message == "cordoned: maintenance"


def test_damaged_reservations_are_reported_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "reservations.json"
    path.write_text("{")
    assert _found(tmp_path)["reservations"].outcome is Outcome.FAILED
    assert path.read_text() == "{"


def test_what_was_set_aside_and_follows_from_it_is_shown(tmp_path: Path) -> None:
    (tmp_path / "reservations.json").write_text("{")
    Reservations(tmp_path).clear(REGION)
    found = list(check_state(_settings(tmp_path)))
    assert any("set aside" in finding.message for finding in found)
    assert any(f"cleared since: {REGION}" in finding.message for finding in found)


def test_a_certificate_that_does_not_fit_its_key_is_told_apart(tmp_path: Path) -> None:
    files = ensure_certificate(tmp_path, "node-a")
    files.key.write_text("damaged")
    (finding,) = [each for each in check_agent(_settings(tmp_path)) if each.check == "certificate"]
    assert "cannot be used with agent.key" in finding.message


@pytest.mark.parametrize("content", [b"", b"garbage"])
def test_a_client_authority_without_a_certificate_is_a_failure(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "ca.crt").write_bytes(content)
    agent = AgentSettings(bind="127.0.0.1:1", client_ca_file=tmp_path / "ca.crt")
    settings = PluginSettings("node-a", state_dir=tmp_path, agent=agent)
    found = {finding.check: finding for finding in check_agent(settings)}
    assert found["agent.client_ca_file"].outcome is Outcome.FAILED


class _Metrics(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = json.dumps(PoolSettings().resource)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"fpga_plugin_registered{{resource={name}}} 0.0\n".encode())

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def metrics_port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Metrics) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="metrics-double")
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join(10.0)


def test_the_running_plugin_says_whether_the_kubelet_took_a_pool(metrics_port: int) -> None:
    settings = PluginSettings("node-a", metrics=MetricsSettings(f"127.0.0.1:{metrics_port}"))
    assert registered(settings, PoolSettings()) is False
    assert registered(settings, PoolSettings("other")) is None
    assert registered(PluginSettings("node-a", metrics=MetricsSettings("")), PoolSettings()) is None
