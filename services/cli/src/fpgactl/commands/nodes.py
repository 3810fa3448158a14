"""``fpgactl nodes``."""

from datetime import UTC, datetime

import click

from fpgactl.connection import Connection
from fpgactl.output import output_option, print_items, print_table
from fpgactl.rows import NODE_HEADINGS, node_row


@click.command()
@output_option
@click.pass_obj
def nodes(connection: Connection, output: str) -> None:
    """List nodes with FPGAs."""
    with connection.client() as client:
        found = sorted(client.nodes(), key=lambda node: node.name)
    if output == "json":
        print_items(found)
        return
    now = datetime.now(UTC)
    print_table(NODE_HEADINGS, [node_row(node, now) for node in found], "no nodes have reported")
