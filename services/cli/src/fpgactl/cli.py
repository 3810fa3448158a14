"""``fpgactl``: the platform from a terminal.

Talks to the manager's REST API only. Results go to stdout; progress, warnings and errors to
stderr.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from fpga_common.domain.errors import FpgaError
from fpgactl.commands.bitstreams import bitstreams
from fpgactl.commands.devices import devices
from fpgactl.commands.load import load
from fpgactl.commands.loads import loads
from fpgactl.commands.nodes import nodes
from fpgactl.commands.whoami import whoami
from fpgactl.connection import Connection
from fpgactl.failures import INTERRUPTED, USAGE, describe_failure, exit_code_of

DEFAULT_URL = "http://127.0.0.1:8080"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="fpgactl")
@click.option(
    "--url", envvar="FPGACTL_URL", default=DEFAULT_URL, show_default=True, help="Manager's address."
)
@click.option(
    "--token-file",
    envvar="FPGACTL_TOKEN_FILE",
    type=click.Path(path_type=Path),
    help="File with the token; FPGACTL_TOKEN may hold the token itself.",
)
@click.option(
    "--ca-file",
    envvar="FPGACTL_CA_FILE",
    type=click.Path(path_type=Path),
    help="Certificate authority of the manager.",
)
@click.pass_context
def commands(
    context: click.Context, url: str, token_file: Path | None, ca_file: Path | None
) -> None:
    """See the cluster's FPGAs and load bitstreams.

    \b
    Exit codes: 0 done, 1 failed or refused, 2 wrong usage or configuration,
    3 manager unreachable.
    """
    source = context.get_parameter_source("token_file")
    chosen = source is click.core.ParameterSource.COMMANDLINE
    context.obj = Connection(url, token_file, ca_file, token_file_first=chosen)


for command in (nodes, devices, bitstreams, load, loads, whoami):
    commands.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the process's exit code."""
    try:
        result = commands.main(
            args=None if arguments is None else list(arguments),
            prog_name="fpgactl",
            standalone_mode=False,
        )
    except click.ClickException as error:
        error.show()
        return USAGE
    except click.Abort:
        click.echo("fpgactl: interrupted", err=True)
        return INTERRUPTED
    except (FpgaError, OSError) as error:
        click.echo(describe_failure(error), err=True)
        return exit_code_of(error)
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
