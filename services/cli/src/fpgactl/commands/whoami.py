"""``fpgactl whoami``."""

import click

from fpgactl.connection import Connection
from fpgactl.output import document, output_option, print_fields, print_json


@click.command()
@output_option
@click.pass_obj
def whoami(connection: Connection, output: str) -> None:
    """Show whose token this is and what it may do."""
    with connection.client() as client:
        caller = client.whoami()
    if output == "json":
        print_json(document(caller))
    else:
        print_fields([("name", caller.name), ("role", caller.role), ("source", caller.source)])
