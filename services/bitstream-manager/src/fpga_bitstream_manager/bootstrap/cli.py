"""The ``bootstrap`` command: parses names, calls the service, prints what was made."""

from pathlib import Path

import click

from fpga_bitstream_manager.bootstrap.service import bootstrap
from fpga_common.domain.errors import Permanent


@click.command("bootstrap")
@click.option(
    "--directory",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the files are made; created with mode 0700 when absent.",
)
@click.option("--node", "nodes", multiple=True, help="A node that gets a token of its own.")
@click.option("--host", "hosts", multiple=True, help="A name or IP address of the manager's API.")
def command(directory: Path, nodes: tuple[str, ...], hosts: tuple[str, ...]) -> None:
    """Make certificates, tokens and the Redis password; what exists is left alone."""
    try:
        made = bootstrap(directory, nodes=nodes, hosts=hosts)
    except Permanent as error:
        raise click.ClickException(error.message) from error
    for path in made.created:
        click.echo(f"created {path}")
    for path in made.kept:
        click.echo(f"kept {path}")
    for host in made.uncovered_hosts:
        click.echo(f"{host} is not in the kept manager-server.crt", err=True)
