"""The bootstrap makes what is absent, keeps the rest, and what it makes is trusted by real TLS."""

import socket
import ssl
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography import x509

from fpga_bitstream_manager.bootstrap import command
from fpga_bitstream_manager.bootstrap.service import (
    InvalidHost,
    UnusableAuthority,
    UnusableCertificate,
    bootstrap,
)
from fpga_common.domain.ids import InvalidId

FILES = {
    "ca.crt",
    "ca.key",
    "manager-server.crt",
    "manager-server.key",
    "manager-client.crt",
    "manager-client.key",
    "admin-token",
    "redis-password",
    "nodes/sim-a.token",
}


def contents(directory: Path) -> dict[str, bytes]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def test_a_first_run_makes_every_file_readable_by_the_owner_only(tmp_path: Path) -> None:
    bootstrap(tmp_path / "trust", nodes=("sim-a",), hosts=("manager.example",))
    assert set(contents(tmp_path / "trust")) == FILES
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "trust").rglob("*")}
    assert modes == {0o600, 0o700}


def test_a_second_run_changes_nothing_and_adds_only_the_new_node(tmp_path: Path) -> None:
    bootstrap(tmp_path, nodes=("sim-a",))
    before = contents(tmp_path)
    made = bootstrap(tmp_path, nodes=("sim-a", "sim-b"))
    after = contents(tmp_path)
    assert made.created == [tmp_path / "nodes/sim-b.token"]
    assert {name: after[name] for name in before} == before
    assert after["nodes/sim-b.token"] != after["nodes/sim-a.token"]


def test_concurrent_runs_agree_on_one_authority(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: bootstrap(tmp_path), range(4)))
    assert sum(tmp_path / "ca.crt" in one.created for one in made) == 1


def test_a_lost_key_gets_a_new_pair_from_the_same_authority(tmp_path: Path) -> None:
    bootstrap(tmp_path)
    (tmp_path / "manager-client.key").unlink()
    made = bootstrap(tmp_path)
    assert made.created == [tmp_path / "manager-client.crt", tmp_path / "manager-client.key"]


def test_half_an_authority_is_refused_and_left_alone(tmp_path: Path) -> None:
    bootstrap(tmp_path)
    (tmp_path / "ca.key").unlink()
    before = contents(tmp_path)
    with pytest.raises(UnusableAuthority, match=r"ca\.key"):
        bootstrap(tmp_path)
    assert contents(tmp_path) == before


def test_a_certificate_with_a_foreign_key_is_refused(tmp_path: Path) -> None:
    bootstrap(tmp_path)
    (tmp_path / "manager-server.key").write_bytes((tmp_path / "ca.key").read_bytes())
    with pytest.raises(UnusableCertificate, match="does not belong"):
        bootstrap(tmp_path)


@pytest.mark.parametrize("host", ["-x", "a b", "", "x" * 64, "exa_mple", "https://manager"])
def test_a_host_that_no_certificate_can_name_is_refused(tmp_path: Path, host: str) -> None:
    with pytest.raises(InvalidHost):
        bootstrap(tmp_path / "trust", hosts=(host,))
    assert not (tmp_path / "trust").exists()


def test_a_node_name_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidId):
        bootstrap(tmp_path / "trust", nodes=("../admin",))
    assert not (tmp_path / "trust").exists()


def test_the_client_certificate_names_the_manager(tmp_path: Path) -> None:
    bootstrap(tmp_path)
    certificate = x509.load_pem_x509_certificate((tmp_path / "manager-client.crt").read_bytes())
    assert certificate.subject.rfc4514_string() == "CN=fpga-bitstream-manager"


def test_a_strict_client_trusts_the_server_by_name_and_shows_its_own(tmp_path: Path) -> None:
    bootstrap(tmp_path, hosts=("manager.example", "::1"))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "manager-server.crt", tmp_path / "manager-server.key")
    server.load_verify_locations(tmp_path / "ca.crt")
    server.verify_mode = ssl.CERT_REQUIRED
    client = ssl.create_default_context(cafile=str(tmp_path / "ca.crt"))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    client.load_cert_chain(tmp_path / "manager-client.crt", tmp_path / "manager-client.key")
    for name in ("manager.example", "127.0.0.1", "localhost"):
        assert handshake(server, client, name) == "fpga-bitstream-manager"


def handshake(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> str:
    """The client's common name as the server sees it over a real connection."""
    near, far = socket.socketpair()
    seen: list[str] = []

    def serve() -> None:
        with server.wrap_socket(far, server_side=True) as connection:
            subject = (connection.getpeercert() or {})["subject"]
            seen.append(str(subject[0][0][1]))
            connection.sendall(b"!")

    thread = threading.Thread(target=serve, name="tls-server", daemon=True)
    thread.start()
    with client.wrap_socket(near, server_hostname=name) as connection:
        assert connection.recv(1) == b"!"
    thread.join(timeout=10)
    return seen[0]


def test_the_command_names_what_it_made_and_never_shows_a_secret(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["--directory", str(tmp_path), "--node", "sim-a"])
    assert result.exit_code == 0
    assert f"created {tmp_path}/nodes/sim-a.token" in result.output
    assert (tmp_path / "admin-token").read_text() not in result.output


def test_the_command_says_which_host_the_kept_certificate_lacks(tmp_path: Path) -> None:
    bootstrap(tmp_path)
    arguments = ["--directory", str(tmp_path), "--host", "new.example"]
    result = CliRunner().invoke(command, arguments)
    assert "new.example is not in the kept manager-server.crt" in result.output


def test_the_module_runs_by_itself_and_refuses_in_one_line(tmp_path: Path) -> None:
    arguments = ["--directory", str(tmp_path), "--node", "UPPER"]
    done = subprocess.run(
        [sys.executable, "-m", "fpga_bitstream_manager.bootstrap", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["Error: not a node name: 'UPPER'"]
