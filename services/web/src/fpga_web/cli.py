"""The command ``fpga-web``."""

import sys
from pathlib import Path

import click

from fpga_common.domain.errors import InvalidConfiguration
from fpga_web.settings import load_settings

EXIT_INVALID_CONFIGURATION = 2


@click.group()
@click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    help="YAML file with the settings; each key also by FPGA_WEB_… in the environment.",
)
@click.version_option(package_name="fpga-web")
@click.pass_context
def main(context: click.Context, config: Path | None) -> None:
    """Web console of fpga-platform."""
    context.obj = config


@main.command()
@click.pass_obj
def serve(config: Path | None) -> None:
    """Serve the console until SIGTERM or SIGINT."""
    from fpga_web.server import run

    try:
        run(load_settings(config))
    except InvalidConfiguration as error:
        print(f"fpga-web: {error}", file=sys.stderr)
        sys.exit(EXIT_INVALID_CONFIGURATION)
