"""``fpgactl load`` and ``loads watch``: following a load to its end."""

import json
import os
import pty
import subprocess
import sys

import pytest

from fpga_common.client.errors import ManagerUnavailable
from fpga_common.client.manager import ManagerClient
from fpga_common.contract.loads import LoadError
from fpga_common.domain.load import LoadState
from fpga_common.domain.operation import FailureCode, Phase
from fpgactl.following import Patience, follow
from support.fpgactl_runs import Run
from support.rest_double import TOKEN, RestDouble
from support.rest_samples import LOAD_ID, SUCCEEDS, Step, a_problem

TARGET = "sim-a/0000:3b:00.0-r0"
EVENTS = f"/api/v1/loads/{LOAD_ID}/events"
MISMATCH = LoadError(
    code=FailureCode.VERIFICATION_MISMATCH,
    message="the region reads back another AFU",
    retryable=False,
    expected="aaaa",
    actual="bbbb",
)


def test_a_load_is_followed_to_its_end(manager: RestDouble, run: Run) -> None:
    outcome = run("load", "checksum", TARGET)
    assert outcome.code == 0
    assert "state         succeeded" in outcome.out.splitlines()
    steps = [line.split(" ")[0] for line in outcome.err.splitlines()]
    assert steps == ["queued", "claimed", "programming", "verifying", "succeeded"]
    assert not manager.requests("GET", f"/api/v1/loads/{LOAD_ID}")


def test_every_option_of_a_load_is_sent(manager: RestDouble, run: Run) -> None:
    run(
        *("load", "checksum@1.0", TARGET, "--force", "--if-busy", "fail", "--no-wait"),
        *("--priority", "interactive", "--no-persist", "--deadline", "15m"),
    )
    (request,) = manager.requests("POST", "/api/v1/loads")
    assert json.loads(request.body) == {
        "bitstream": "checksum@1.0",
        "target": {"node": "sim-a", "device": "0000:3b:00.0-r0"},
        "if_busy": "fail",
        "priority": "interactive",
        "deadline_seconds": 900.0,
        "persist": False,
        "force": True,
        "labels": {},
    }
    assert request.headers["idempotency-key"]
    assert not manager.requests("GET", EVENTS)


def test_a_broken_stream_is_replaced_by_questions(manager: RestDouble, run: Run) -> None:
    manager.answers.stream_breaks_after = 1
    outcome = run("load", "checksum", TARGET)
    assert outcome.code == 0
    assert len(manager.requests("GET", EVENTS)) == 1
    assert manager.requests("GET", f"/api/v1/loads/{LOAD_ID}")


def test_a_stream_that_is_not_offered_is_replaced_by_questions(
    manager: RestDouble, run: Run
) -> None:
    manager.answers.script = SUCCEEDS[-2:]
    manager.refuse("GET", EVENTS, a_problem("unavailable", 503, "no events now"))
    assert run("load", "checksum", TARGET).code == 0


def test_a_stream_of_nonsense_is_replaced_by_questions(manager: RestDouble, run: Run) -> None:
    manager.answers.script = SUCCEEDS[-2:]
    manager.answers.raw["GET", EVENTS] = b"event: load\ndata: {}\n\n"
    assert run("load", "checksum", TARGET).code == 0


def test_a_failed_load_ends_with_1_and_expected_and_actual(manager: RestDouble, run: Run) -> None:
    manager.answers.script = (
        Step(LoadState.PROGRAMMING, Phase.PROGRAMMING, 40.0),
        Step(LoadState.FAILED, Phase.FAILED, 90.0, error=MISMATCH),
    )
    outcome = run("load", "checksum", TARGET)
    assert outcome.code == 1
    reason = "the region reads back another AFU (verification_mismatch)"
    assert outcome.err.splitlines()[-2:] == [
        f"fpgactl: load {LOAD_ID} failed: {reason}",
        "  expected aaaa, actual bbbb",
    ]


@pytest.mark.parametrize("state", [LoadState.CANCELLED, LoadState.EXPIRED])
def test_a_load_that_ends_otherwise_ends_with_1(
    manager: RestDouble, run: Run, state: LoadState
) -> None:
    manager.answers.script = (Step(state),)
    outcome = run("loads", "watch", LOAD_ID)
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1] == f"fpgactl: load {LOAD_ID} {state}"


def test_json_of_a_followed_load_is_its_end_alone(manager: RestDouble, run: Run) -> None:
    outcome = run("load", "checksum", TARGET, "-o", "json")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out)["state"] == "succeeded"


def test_a_refused_load_ends_with_1_and_both_ids(manager: RestDouble, run: Run) -> None:
    problem = a_problem(
        "interface_mismatch",
        409,
        "the bitstream does not fit the region",
        expected="f64e598bea11517fa28e7bc65d885104",
        actual="a5d72a3cc8b04939912cf715e5dc10ca",
    )
    manager.refuse("POST", "/api/v1/loads", problem)
    outcome = run("load", "checksum", TARGET)
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        "fpgactl: the bitstream does not fit the region (interface_mismatch)",
        "  expected f64e598bea11517fa28e7bc65d885104, actual a5d72a3cc8b04939912cf715e5dc10ca",
    ]


def test_a_waiting_load_says_what_it_waits_for(manager: RestDouble, run: Run) -> None:
    held = LoadError(code=FailureCode.REGION_HELD, message="held by default/worker", retryable=True)
    manager.answers.script = (
        Step(LoadState.WAITING, error=held),
        Step(LoadState.SUCCEEDED, Phase.DONE, 100.0),
    )
    assert "waiting: held by default/worker 0 %" in run("load", "checksum", TARGET).err


def test_a_load_can_be_cancelled_and_retried(manager: RestDouble, run: Run) -> None:
    assert "cancelling" in run("loads", "cancel", LOAD_ID).out
    assert json.loads(run("loads", "retry", LOAD_ID, "-o", "json").out)["retry_of"] == LOAD_ID
    assert run("loads", "retry", LOAD_ID, "--wait").code == 0


def test_questions_end_when_nobody_answers(manager: RestDouble) -> None:
    with ManagerClient(manager.url, TOKEN) as client:
        load = client.retry_load(LOAD_ID)
        silent = a_problem("unavailable", 503, "no events now")
        manager.refuse("GET", EVENTS, silent)
        manager.answers.raw["GET", f"/api/v1/loads/{LOAD_ID}"] = b"<html>proxy</html>"
        patience = Patience(poll=0.0, unreachable=0.05)
        with pytest.raises(ManagerUnavailable, match="did not answer like a manager"):
            list(follow(client, load, patience=patience))


def test_questions_end_when_a_load_is_overdue(manager: RestDouble) -> None:
    manager.answers.script = (Step(LoadState.WAITING),)
    with ManagerClient(manager.url, TOKEN) as client:
        load = client.retry_load(LOAD_ID)
        brief = load.model_copy(update={"deadline_at": load.created_at})
        with pytest.raises(ManagerUnavailable, match="past its deadline"):
            list(follow(client, brief, patience=Patience(poll=0.0, overdue=0.1)))


def test_a_terminal_gets_a_bar(manager: RestDouble) -> None:
    ours, theirs = pty.openpty()
    environment = os.environ | {
        "FPGACTL_URL": manager.url,
        "FPGACTL_TOKEN": TOKEN,
        "TERM": "xterm",
        "COLUMNS": "100",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "fpgactl.cli", "load", "checksum", TARGET],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    try:
        shown = read_to_the_end(ours)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait(10)
        os.close(ours)
    assert "succeeded" in shown
    assert "100%" in shown
    assert "━" in shown


def read_to_the_end(terminal: int) -> str:
    """What was written until nobody has the terminal's other side open (EIO)."""
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            return shown.decode()
        if not part:
            return shown.decode()
        shown += part
