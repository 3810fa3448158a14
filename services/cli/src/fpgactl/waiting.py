"""What every command does that waits for a load: follow it, show it, end with its result."""

import click

from fpga_common.client.manager import ManagerClient
from fpga_common.contract.loads import Load
from fpga_common.domain.load import LoadState
from fpgactl.failures import FAILED, INTERRUPTED, describe_end
from fpgactl.following import follow
from fpgactl.output import document, print_fields, print_json
from fpgactl.progress import show
from fpgactl.rows import load_fields


def wait_and_report(client: ManagerClient, load: Load, output: str) -> int:
    """Wait for the load's end; exit code 0 only where it succeeded."""
    try:
        ended = show(follow(client, load), quiet=output == "json")
    except KeyboardInterrupt:
        click.echo(
            f"fpgactl: no longer watching; the load goes on: fpgactl loads watch {load.id}",
            err=True,
        )
        return INTERRUPTED
    report(ended, output)
    if ended.state is LoadState.SUCCEEDED:
        return 0
    click.echo(describe_end(ended), err=True)
    return FAILED


def report(load: Load, output: str) -> None:
    """Print one load."""
    if output == "json":
        print_json(document(load))
    else:
        print_fields(load_fields(load))
