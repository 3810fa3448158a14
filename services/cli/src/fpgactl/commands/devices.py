"""``fpgactl devices``."""

import click

from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus
from fpgactl.connection import Connection
from fpgactl.output import output_option, print_items, print_table
from fpgactl.rows import DEVICE_HEADINGS, device_row, sorted_devices


@click.command()
@click.option("--node", help="Only this node's.")
@click.option("--health", type=click.Choice([status.value for status in HealthStatus]))
@click.option("--state", type=click.Choice([state.value for state in RegionState]))
@click.option("--model", help="Only this model's.")
@click.option("--held/--free", default=None, help="Only those that are, or are not, in use.")
@output_option
@click.pass_obj
def devices(
    connection: Connection,
    node: str | None,
    health: str | None,
    state: str | None,
    model: str | None,
    held: bool | None,
    output: str,
) -> None:
    """List devices: state, health, AFU and who holds each."""
    with connection.client() as client:
        found = sorted_devices(
            client.devices(node=node, health=health, state=state, model=model, held=held)
        )
    if output == "json":
        print_items(found)
    else:
        print_table(DEVICE_HEADINGS, [device_row(device) for device in found], "no devices")
