"""Shows a load's way: a bar on a terminal, a line a step elsewhere."""

import sys
from collections.abc import Iterable

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from fpga_common.contract.loads import Load
from fpgactl.output import plain
from fpgactl.rows import percent


def show(loads: Iterable[Load], *, quiet: bool) -> Load:
    """Show each of ``loads`` on stderr and return the last; ``quiet`` shows nothing."""
    if quiet:
        return _last(loads)
    if sys.stderr.isatty():
        return _bar(loads)
    return _lines(loads)


def step(load: Load) -> str:
    """What a load does now, in a few words."""
    doing = load.state.value
    if load.progress.phase and not load.state.ended and load.progress.phase.value != doing:
        doing = f"{doing} · {load.progress.phase}"
    waiting_for = load.error.message if load.error and not load.state.ended else ""
    return plain(f"{doing}: {waiting_for}" if waiting_for else doing)


def _bar(loads: Iterable[Load]) -> Load:
    last: Load | None = None
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("requested", total=100.0)
        for load in loads:
            bar.update(task, description=step(load), completed=percent(load))
            last = load
    return _require(last)


def _lines(loads: Iterable[Load]) -> Load:
    last, shown = None, ""
    for load in loads:
        line = step(load)
        if line != shown:
            click.echo(f"{line} {percent(load):.0f} %", err=True)
        last, shown = load, line
    return _require(last)


def _last(loads: Iterable[Load]) -> Load:
    last: Load | None = None
    for load in loads:
        last = load
    return _require(last)


def _require(load: Load | None) -> Load:
    assert load is not None, "a load that is followed is seen at least once"  # noqa: S101
    return load
