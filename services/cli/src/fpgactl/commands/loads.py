"""``fpgactl loads``: what was asked for, and what became of it."""

from datetime import UTC, datetime
from itertools import islice

import click

from fpga_common.domain.load import LoadState
from fpgactl.connection import Connection
from fpgactl.groups import ListingGroup
from fpgactl.output import (
    document,
    output_option,
    print_fields,
    print_items,
    print_json,
    print_table,
)
from fpgactl.rows import HISTORY_HEADINGS, LOAD_HEADINGS, history_rows, load_fields, load_row
from fpgactl.waiting import report, wait_and_report

PAGE = 200


@click.group(cls=ListingGroup)
def loads() -> None:
    """List, show, watch, cancel and retry loads."""


@loads.command("list")
@click.option("--state", type=click.Choice([state.value for state in LoadState]))
@click.option("--node", help="Only this node's.")
@click.option("--device", help="Only this device's.")
@click.option("--bitstream", help="Only loads of this bitstream.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@output_option
@click.pass_obj
def list_command(
    connection: Connection,
    state: str | None,
    node: str | None,
    device: str | None,
    bitstream: str | None,
    limit: int,
    output: str,
) -> None:
    """List loads, newest first."""
    with connection.client() as client:
        answers = client.loads(
            state=state, node=node, device=device, bitstream=bitstream, limit=min(limit, PAGE)
        )
        found = list(islice(answers, limit))
    if output == "json":
        print_items(found)
        return
    now = datetime.now(UTC)
    print_table(LOAD_HEADINGS, [load_row(load, now) for load in found], "no loads")


@loads.command()
@click.argument("load_id", metavar="LOAD")
@output_option
@click.pass_obj
def show(connection: Connection, load_id: str, output: str) -> None:
    """Show one load with its history."""
    with connection.client() as client:
        load = client.load(load_id)
    if output == "json":
        print_json(document(load))
        return
    print_fields(load_fields(load))
    click.echo()
    print_table(HISTORY_HEADINGS, history_rows(load), "no history")


@loads.command()
@click.argument("load_id", metavar="LOAD")
@output_option
@click.pass_obj
def watch(connection: Connection, load_id: str, output: str) -> int:
    """Follow a load to its end."""
    with connection.client() as client:
        return wait_and_report(client, client.load(load_id), output)


@loads.command()
@click.argument("load_id", metavar="LOAD")
@output_option
@click.pass_obj
def cancel(connection: Connection, load_id: str, output: str) -> None:
    """Ask a load to stop."""
    with connection.client() as client:
        report(client.cancel_load(load_id), output)


@loads.command()
@click.argument("load_id", metavar="LOAD")
@click.option("--wait/--no-wait", default=False, help="Follow the new load to its end.")
@output_option
@click.pass_obj
def retry(connection: Connection, load_id: str, wait: bool, output: str) -> int:
    """Ask again for a load that has ended."""
    with connection.client() as client:
        load = client.retry_load(load_id)
        if wait:
            return wait_and_report(client, load, output)
    report(load, output)
    return 0
