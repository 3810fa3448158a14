"""What fpgactl lists, and how."""

import json

import pytest

from fpga_common.contract.inventory import FunctionDocument
from support.fpgactl_runs import Run
from support.rest_double import RestDouble
from support.rest_samples import (
    DIGEST,
    LOAD_ID,
    SUCCEEDS,
    a_bitstream,
    a_device,
    a_holder,
    a_load,
    a_node,
)

PCI = FunctionDocument.model_validate(
    {"address": "0000:3b:00.0", "vendor": "8086", "device": "09c4", "class": "120000"}
)


@pytest.fixture
def full(manager: RestDouble) -> RestDouble:
    answers = manager.answers
    answers.nodes = [a_node("sim-b", stale=True), a_node("sim-a")]
    answers.devices = [
        a_device("sim-b", "0000:3b:00.0-r0", afu_id=None),
        a_device("sim-a", "0000:af:00.0-r0", model="Intel FPGA SmartNIC N6001-PL"),
        a_device("sim-a", "0000:3b:00.0-r0", holder=a_holder("checksum-worker-7f9c"), pci=PCI),
    ]
    answers.bitstreams = [a_bitstream("nlb"), a_bitstream("checksum", version="1.0")]
    answers.loads = [a_load(SUCCEEDS[-1]), a_load(SUCCEEDS[1])]
    return manager


LISTS = ["nodes", "devices", "bitstreams", "loads"]


@pytest.mark.parametrize("command", LISTS)
def test_tables_fit_a_hundred_columns(full: RestDouble, run: Run, command: str) -> None:
    outcome = run(command)
    assert outcome.code == 0
    assert max(len(line) for line in outcome.out.splitlines()) <= 100


def test_a_narrow_terminal_never_breaks_an_id(
    full: RestDouble, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = run("devices").out.split()
    assert words.count("0000:3b:00.0-r0") == 2
    assert words.count("d8424dc4a4a3") == 2


def test_a_pipe_gets_one_line_a_device(
    full: RestDouble, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS")
    assert len(run("devices").out.splitlines()) == 4


def test_devices_are_sorted_by_node_and_id(full: RestDouble, run: Run) -> None:
    rows = [line.split()[:2] for line in run("devices").out.splitlines() if "sim-" in line]
    assert rows == [
        ["sim-a", "0000:3b:00.0-r0"],
        ["sim-a", "0000:af:00.0-r0"],
        ["sim-b", "0000:3b:00.0-r0"],
    ]


def test_a_device_line_says_state_health_afu_and_holder(full: RestDouble, run: Run) -> None:
    line = run("devices").out.splitlines()[1]
    assert line.split()[-4:-1] == ["ready", "healthy", "d8424dc4a4a3"]
    assert "default/checksum-worker" in line


def test_a_stale_node_is_not_shown_as_ready(full: RestDouble, run: Run) -> None:
    lines = run("nodes").out.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["sim-a", "ready"], ["sim-b", "stale"]]


@pytest.mark.parametrize("command", LISTS)
def test_json_is_an_object_with_items_and_the_same_each_time(
    full: RestDouble, run: Run, command: str
) -> None:
    first, second = run(command, "-o", "json").out, run(command, "-o", "json").out
    assert first == second
    assert len(json.loads(first)["items"]) == {"devices": 3}.get(command, 2)


def test_json_uses_the_apis_own_names(full: RestDouble, run: Run) -> None:
    items = json.loads(run("devices", "-o", "json").out)["items"]
    assert items[0]["pci"]["class"] == "120000"
    assert items[0]["interface_id"] == "f64e598bea11517fa28e7bc65d885104"


def test_the_subcommand_list_is_the_groups_default(full: RestDouble, run: Run) -> None:
    assert run("loads", "list", "-o", "json").out == run("loads", "-o", "json").out
    assert run("bitstreams", "list").out == run("bitstreams").out


@pytest.mark.parametrize("command", LISTS)
def test_an_empty_list_says_so_on_stderr(run: Run, command: str) -> None:
    outcome = run(command)
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.startswith("no ")


def test_filters_go_to_the_manager(full: RestDouble, run: Run) -> None:
    run("devices", "--node", "sim-a", "--health", "healthy", "--free")
    (request,) = full.requests("GET", "/api/v1/devices")
    assert request.query["node"] == "sim-a"
    assert request.query["health"] == "healthy"
    assert request.query["held"] == "false"


def test_no_more_loads_are_listed_than_asked_for(full: RestDouble, run: Run) -> None:
    assert len(json.loads(run("loads", "--limit", "1", "-o", "json").out)["items"]) == 1


def test_whoami_says_name_and_role(run: Run) -> None:
    assert run("whoami").out.split() == ["name", "alice", "role", "operator", "source", "token"]
    assert json.loads(run("whoami", "-o", "json").out)["role"] == "operator"


def test_text_from_the_manager_cannot_act_on_the_terminal(manager: RestDouble, run: Run) -> None:
    manager.answers.devices = [a_device("sim-a", "x-r0", model="\x1b[31m[bold]red\x07")]
    shown = run("devices").out
    assert "\x1b[31m" not in shown
    assert "\x07" not in shown
    assert "[bold]red" in shown


def test_a_load_is_shown_with_its_history(manager: RestDouble, run: Run) -> None:
    manager.answers.at_step = len(SUCCEEDS) - 1
    lines = run("loads", "show", LOAD_ID).out.splitlines()
    assert "state         succeeded" in lines
    assert lines[-1].split()[:4] == ["2026-03-01T12:00:04Z", "succeeded", "1", "worker"]


def test_a_deleted_bitstream_is_named_by_digest(manager: RestDouble, run: Run) -> None:
    outcome = run("bitstreams", "delete", "checksum")
    assert (outcome.code, outcome.out) == (0, f"deleted checksum {DIGEST}\n")
    assert manager.requests("DELETE", f"/api/v1/bitstreams/{DIGEST}")
