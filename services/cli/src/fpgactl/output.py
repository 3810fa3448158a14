"""What commands print: stable JSON for programs, tables for people."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

Command = TypeVar("Command", bound=Callable[..., Any])
UNLIMITED = 100_000
BREAKABLE = frozenset({"MODEL", "HELD BY", "NAME", "BITSTREAM", "TARGET", "MESSAGE"})

output_option: Callable[[Command], Command] = click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="How to print the result.",
)


def plain(text: str) -> str:
    """``text`` on one line and without anything that a terminal would act on."""
    return "".join(char if char.isprintable() else "�" for char in text.replace("\n", " "))


def document(model: BaseModel) -> Any:
    """A model as JSON values, with the API's own names."""
    return model.model_dump(mode="json", by_alias=True)


def print_json(value: Any) -> None:
    """Print JSON values."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_items(models: Iterable[BaseModel]) -> None:
    """Print a list as ``{"items": […]}``, as the API's lists are."""
    print_json({"items": [document(model) for model in models]})


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], nothing: str) -> None:
    """Print rows, or ``nothing`` when there are none.

    Where a terminal is too narrow, the columns in ``BREAKABLE`` are continued below; ids are not
    broken. On a pipe no line is.
    """
    if not rows:
        click.echo(nothing, err=True)
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading not in BREAKABLE)
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    _console().print(table)


def print_fields(fields: Iterable[tuple[str, str]]) -> None:
    """Print one thing as aligned names and values."""
    shown = list(fields)
    width = max(len(name) for name, _ in shown)
    for name, value in shown:
        click.echo(f"{name:{width}}  {plain(value)}".rstrip())


def _console() -> Console:
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        return Console(file=sys.stdout, highlight=False)
    return Console(file=sys.stdout, highlight=False, width=UNLIMITED)
