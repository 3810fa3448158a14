"""``fpgactl bitstreams``: files and uploads."""

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from fpga_common.contract.problem import ProblemError
from fpga_common.testing.sim import make_gbs
from support.fpgactl_runs import Run
from support.rest_double import RestDouble
from support.rest_samples import AFU, DIGEST, INTERFACE, a_problem

GOOD = make_gbs(INTERFACE, AFU, name="checksum")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "checksum.gbs"
    path.write_bytes(GOOD)
    return path


def test_inspect_shows_the_ids_without_a_manager(
    good: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FPGACTL_TOKEN")
    monkeypatch.setenv("FPGACTL_URL", "http://127.0.0.1:1")
    outcome = run("bitstreams", "inspect", str(good))
    assert (outcome.code, outcome.err) == (0, "")
    assert INTERFACE in outcome.out
    assert AFU in outcome.out
    assert "warning" not in outcome.out


def test_inspect_as_json_has_digest_and_checks(good: Path, run: Run) -> None:
    document = json.loads(run("bitstreams", "inspect", str(good), "-o", "json").out)
    assert document["digest"] == f"sha256:{sha256(GOOD).hexdigest()}"
    assert document["accepted"] is True
    assert document["payload_size_bytes"] == 65536
    assert document["clocks_mhz"] == {"high": "400", "low": "200"}


def test_a_payload_of_one_byte_is_a_warning_and_exit_code_0(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "tiny.gbs"
    path.write_bytes(make_gbs(INTERFACE, AFU, payload_bytes=1))
    outcome = run("bitstreams", "inspect", str(path))
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1] == (
        "warning: payload: the payload is too short to be a partial bitstream "
        "(expected at least 920 bytes, actual 1 byte); an upload is refused"
    )
    assert (
        json.loads(run("bitstreams", "inspect", str(path), "-o", "json").out)["accepted"] is False
    )


def test_a_malformed_file_ends_with_1_and_expected_and_actual(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "cut.gbs"
    path.write_bytes(GOOD[:60])
    outcome = run("bitstreams", "inspect", str(path))
    assert (outcome.code, outcome.out) == (1, "")
    lines = outcome.err.splitlines()
    assert lines[0].startswith("fpgactl: metadata length at offset 16:")
    assert lines[1].startswith("  expected at most 40 bytes, actual ")


def test_a_pipe_is_not_waited_for(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert run("bitstreams", "inspect", str(path)).code == 1


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path, run: Run) -> None:
    outcome = run("bitstreams", "inspect", str(tmp_path / "absent.gbs"))
    assert outcome.code == 2
    assert "does not exist" in outcome.err


def test_an_upload_sends_the_bytes_and_their_digest(
    manager: RestDouble, good: Path, run: Run
) -> None:
    outcome = run("bitstreams", "upload", str(good), "--version", "1.0")
    assert outcome.code == 0
    assert DIGEST in outcome.out
    (request,) = manager.requests("POST", "/api/v1/bitstreams")
    assert request.body == GOOD
    assert request.query == {"name": "checksum", "version": "1.0"}
    assert request.headers["content-type"] == "application/octet-stream"
    assert request.headers["content-digest"].startswith("sha-256=:")


def test_a_refused_upload_says_what_is_wrong_with_the_file(
    manager: RestDouble, good: Path, run: Run
) -> None:
    wrong = ProblemError(
        detail="the payload is too short",
        field="payload",
        expected="at least 920 bytes",
        actual="1 byte",
    )
    problem = a_problem("invalid_bitstream", 422, "not a usable bitstream", errors=[wrong])
    manager.refuse("POST", "/api/v1/bitstreams", problem)
    outcome = run("bitstreams", "upload", str(good))
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        "fpgactl: not a usable bitstream: the payload is too short (invalid_bitstream)",
        "  expected at least 920 bytes, actual 1 byte",
    ]
