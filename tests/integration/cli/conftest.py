"""fpgactl against a server that answers as the manager does."""

from collections.abc import Iterator

import pytest

from fpgactl.cli import main
from support.fpgactl_runs import Outcome, Run
from support.rest_double import TOKEN, RestDouble


@pytest.fixture
def manager() -> Iterator[RestDouble]:
    with RestDouble() as double:
        yield double


@pytest.fixture
def run(
    manager: RestDouble, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run fpgactl in this process, as alice."""
    monkeypatch.setenv("FPGACTL_URL", manager.url)
    monkeypatch.setenv("FPGACTL_TOKEN", TOKEN)
    monkeypatch.setenv("COLUMNS", "100")

    def command(*arguments: str) -> Outcome:
        code = main(arguments)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return command
