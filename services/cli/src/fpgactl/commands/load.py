"""``fpgactl load``: put a bitstream into a region and follow it."""

import uuid

import click
from pydantic import ValidationError

from fpga_common.contract.loads import LoadCreate, LoadTarget
from fpga_common.domain.ids import InvalidId
from fpga_common.domain.load import IfBusy, Priority
from fpgactl.connection import Connection
from fpgactl.durations import duration
from fpgactl.output import output_option
from fpgactl.waiting import report, wait_and_report


@click.command()
@click.argument("bitstream")
@click.argument("target", metavar="NODE/DEVICE")
@click.option("--force", is_flag=True, help="Take the region from the pod that holds it (admin).")
@click.option(
    "--if-busy",
    type=click.Choice([choice.value for choice in IfBusy]),
    default=IfBusy.WAIT.value,
    show_default=True,
    help="What to do while the region is held.",
)
@click.option(
    "--priority",
    type=click.Choice([priority.value for priority in Priority]),
    default=Priority.NORMAL.value,
    show_default=True,
)
@click.option("--no-persist", is_flag=True, help="Do not make this AFU the region's desired one.")
@click.option(
    "--deadline",
    callback=duration,
    default="1h",
    show_default=True,
    metavar="DURATION",
    help="Give up after this long: 90s, 15m, 2h, 1d.",
)
@click.option("--wait/--no-wait", default=True, help="Follow it to its end; the default.")
@output_option
@click.pass_obj
def load(
    connection: Connection,
    bitstream: str,
    target: str,
    force: bool,
    if_busy: str,
    priority: str,
    no_persist: bool,
    deadline: float,
    wait: bool,
    output: str,
) -> int:
    """Load BITSTREAM (a name, name@version or digest) into NODE/DEVICE."""
    try:
        request = LoadCreate(
            bitstream=bitstream,
            target=_target(target),
            if_busy=IfBusy(if_busy),
            priority=Priority(priority),
            deadline_seconds=deadline,
            persist=not no_persist,
            force=force,
        )
    except ValidationError as error:
        raise click.BadParameter(_sentence(error)) from error
    except InvalidId as error:
        raise click.BadParameter(error.message, param_hint="NODE/DEVICE") from error
    with connection.client() as client:
        accepted = client.create_load(request, idempotency_key=uuid.uuid4().hex)
        if wait:
            return wait_and_report(client, accepted, output)
    report(accepted, output)
    return 0


def _target(text: str) -> LoadTarget:
    node, slash, device = text.partition("/")
    if not slash or not node or not device:
        raise click.BadParameter(f"{text!r}: expected NODE/DEVICE", param_hint="NODE/DEVICE")
    return LoadTarget(node=node, device=device)


def _sentence(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
