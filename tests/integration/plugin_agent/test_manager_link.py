"""The plugin's way to the manager over real HTTP and HTTPS."""

import socket
from pathlib import Path

import pytest

from fpga_bitstream_manager.bootstrap.service import bootstrap
from fpga_plugin.manager_link import (
    ManagerLink,
    ManagerNotConfigured,
    ManagerRefused,
    ManagerUnreachable,
)
from fpga_plugin.report.reporter import ReportChannel
from fpga_plugin.settings import ManagerSettings
from support.manager_double import ManagerDouble

TOKEN = "node-token"
HEARTBEAT = {"node": "sim-a", "digest": "sha256:0", "reported_at": "2026-01-01T00:00:00+00:00"}


@pytest.fixture
def trust(tmp_path: Path) -> Path:
    bootstrap(tmp_path / "trust")
    (tmp_path / "token").write_text(TOKEN + "\n")
    return tmp_path / "trust"


def _tls_manager(trust: Path) -> ManagerDouble:
    tls = (trust / "manager-server.crt", trust / "manager-server.key")
    return ManagerDouble(token=TOKEN, tls=tls)


def _channel(url: str, tmp_path: Path, ca_file: Path | None = None) -> ReportChannel:
    settings = ManagerSettings(url=url, ca_file=ca_file, token_file=tmp_path / "token")
    return ReportChannel(ManagerLink(settings), "sim-a")


def test_a_report_goes_over_tls_to_the_manager_of_the_right_authority(
    trust: Path, tmp_path: Path
) -> None:
    with _tls_manager(trust) as manager:
        assert not _channel(manager.url, tmp_path, trust / "ca.crt").put(HEARTBEAT)
    assert [report["node"] for report in manager.reports] == ["sim-a"]


def test_a_manager_of_another_authority_gets_no_token(trust: Path, tmp_path: Path) -> None:
    bootstrap(tmp_path / "other")
    with _tls_manager(trust) as manager, pytest.raises(ManagerUnreachable, match="certificate"):
        _channel(manager.url, tmp_path, tmp_path / "other" / "ca.crt").put(HEARTBEAT)
    assert manager.reports == []


def test_a_path_below_another_path_is_kept(trust: Path, tmp_path: Path) -> None:
    with ManagerDouble(token=TOKEN) as manager:
        _channel(f"{manager.url}/fpga/", tmp_path).put(HEARTBEAT)
    assert manager.reports[0]["path"] == "/fpga/internal/v1/nodes/sim-a/report"


def test_a_token_that_was_renewed_is_used_at_once(trust: Path, tmp_path: Path) -> None:
    with ManagerDouble(token="renewed") as manager:
        channel = _channel(manager.url, tmp_path)
        with pytest.raises(ManagerRefused) as refused:
            channel.put(HEARTBEAT)
        assert refused.value.status == 401
        (tmp_path / "token").write_text("renewed")
        channel.put(HEARTBEAT)


def test_a_missing_token_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ManagerUnreachable, match=r"manager\.token_file"):
        _channel("http://127.0.0.1:9", tmp_path).put(HEARTBEAT)


def test_no_manager_is_told_apart_from_an_absent_one(trust: Path, tmp_path: Path) -> None:
    with pytest.raises(ManagerNotConfigured):
        _channel("", tmp_path).put(HEARTBEAT)


def test_a_server_that_never_answers_is_given_up(trust: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        link = ManagerLink(ManagerSettings(url=url, token_file=tmp_path / "token"))
        with pytest.raises(ManagerUnreachable), link.request("GET", "/", timeout=0.2):
            pass


@pytest.mark.parametrize("token", ["secret-one\nsecret-two", "secret one", "secret\x7fone"])
def test_a_token_file_that_holds_no_token_is_named_and_its_content_is_not(
    tmp_path: Path, token: str
) -> None:
    (tmp_path / "token").write_text(token)
    with pytest.raises(ManagerUnreachable, match=r"manager\.token_file") as refused:
        _channel("http://127.0.0.1:9", tmp_path).put(HEARTBEAT)
    assert "secret" not in str(refused.value)


def test_a_manager_whose_name_nobody_can_resolve_is_unreachable(
    trust: Path, tmp_path: Path
) -> None:
    with pytest.raises(ManagerUnreachable):
        _channel(f"http://{'a' * 70}.example", tmp_path).put(HEARTBEAT)
