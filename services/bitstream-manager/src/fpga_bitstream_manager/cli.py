"""Command line of every manager process. Each command imports what it needs, and nothing else."""

import logging
import signal
import sys
from pathlib import Path

import click

from fpga_bitstream_manager import __version__
from fpga_bitstream_manager.settings import ManagerSettings, load_settings
from fpga_common.domain.errors import InvalidConfiguration
from fpga_common.observability.logging import configure_logging

CONFIGURATION_WRONG = 2
BOOTSTRAP = "bootstrap"


class Commands(click.Group):
    """Imports ``bootstrap`` when it is called; one line and exit code 2 for a wrong setting."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command's name."""
        return sorted([*super().list_commands(ctx), BOOTSTRAP])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        if cmd_name != BOOTSTRAP:
            return super().get_command(ctx, cmd_name)
        from fpga_bitstream_manager.bootstrap import command

        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except InvalidConfiguration as error:
            click.echo(f"fpga-bitstream-manager: {error}", err=True)
            ctx.exit(CONFIGURATION_WRONG)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="YAML file; every key also as FPGA_MANAGER_<SECTION>__<KEY>.",
)
@click.pass_context
def main(ctx: click.Context, config: Path | None) -> None:
    """Store bitstreams, queue loads, know every FPGA of the cluster."""
    ctx.obj = config


@main.command()
@click.pass_obj
def api(config: Path | None) -> None:
    """Serve the REST API."""
    settings = _prepare(config)
    _end_on_signals()
    from fpga_bitstream_manager.api.server import run

    sys.exit(run(settings))


@main.command()
@click.pass_obj
def worker(config: Path | None) -> None:
    """Run loads from the queue."""
    settings = _prepare(config)
    _end_on_signals()
    from fpga_bitstream_manager.tasks import run

    sys.exit(run(settings))


@main.command()
@click.pass_obj
def reconciler(config: Path | None) -> None:
    """Repair what was lost, and wake what waits."""
    settings = _prepare(config)
    _end_on_signals()
    from fpga_bitstream_manager.reconciler import run

    sys.exit(run(settings))


@main.command()
@click.pass_obj
def migrate(config: Path | None) -> None:
    """Bring the ledger to the newest revision."""
    settings = _prepare(config)
    from fpga_bitstream_manager.ledger.command import run

    sys.exit(run(settings))


def _end_on_signals() -> None:
    """Let SIGTERM end a server well from its first moment; each installs its own way later."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))


def _prepare(config: Path | None) -> ManagerSettings:
    settings = load_settings(config)
    configure_logging(level=settings.log.level, log_format=settings.log.format)
    logging.getLogger("alembic").setLevel(logging.WARNING)  # tells of its plugins otherwise
    return settings
