"""``fpgactl bitstreams``: what is stored, and what a file holds."""

from pathlib import Path
from typing import Any

import click
import rich.progress
from rich.console import Console

from fpga_common.bitstream import digest_of, inspect_file
from fpga_common.client.manager import ManagerClient
from fpga_common.contract.bitstreams import Bitstream
from fpga_common.domain.bitstream import MalformedBitstream
from fpgactl.connection import Connection
from fpgactl.failures import FAILED, describe_failure
from fpgactl.groups import ListingGroup
from fpgactl.inspection import inspection_document, inspection_fields, warnings
from fpgactl.output import (
    document,
    output_option,
    plain,
    print_fields,
    print_items,
    print_json,
    print_table,
)
from fpgactl.rows import BITSTREAM_HEADINGS, bitstream_fields, bitstream_row

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(cls=ListingGroup)
def bitstreams() -> None:
    """List, inspect, upload and delete bitstreams."""


@bitstreams.command("list")
@click.option("--name", help="Only this name's.")
@click.option("--interface-id", help="Only those that fit this interface id.")
@click.option("--afu-id", help="Only those with this AFU.")
@output_option
@click.pass_obj
def list_command(connection: Connection, /, output: str, **filters: str | None) -> None:
    """List stored bitstreams."""
    with connection.client() as client:
        found = sorted(
            client.bitstreams(**filters), key=lambda item: (item.name, item.version or "")
        )
    if output == "json":
        print_items(found)
    else:
        print_table(BITSTREAM_HEADINGS, [bitstream_row(item) for item in found], "no bitstreams")


@bitstreams.command()
@click.argument("file", type=FILE)
@output_option
def inspect(file: Path, output: str) -> int:
    """Show what FILE holds, without a manager."""
    try:
        info = inspect_file(file)
    except MalformedBitstream as error:
        click.echo(describe_failure(error), err=True)
        return FAILED
    digest = _digest(file)
    if output == "json":
        print_json(inspection_document(info, digest))
        return 0
    print_fields(inspection_fields(info, digest))
    for warning in warnings(info):
        click.echo(plain(warning))
    return 0


@bitstreams.command()
@click.argument("file", type=FILE)
@click.option("--name", help="Name to store it under; by default the file's.")
@click.option("--version", help="Version of that name.")
@output_option
@click.pass_obj
def upload(
    connection: Connection, file: Path, name: str | None, version: str | None, output: str
) -> None:
    """Store FILE; the manager checks it first."""
    with connection.client() as client:
        stored = _upload(client, file, name or file.stem, version)
    _report(stored, output)


@bitstreams.command()
@click.argument("reference", metavar="DIGEST|NAME[@VERSION]")
@output_option
@click.pass_obj
def delete(connection: Connection, reference: str, output: str) -> None:
    """Delete a bitstream that nothing needs."""
    with connection.client() as client:
        bitstream = client.bitstream(reference)
        client.delete_bitstream(bitstream.digest)
    if output == "json":
        print_json({"deleted": document(bitstream)})
    else:
        click.echo(f"deleted {plain(bitstream.name)} {bitstream.digest}")


def _upload(client: ManagerClient, file: Path, name: str, version: str | None) -> Bitstream:
    console = Console(stderr=True)
    size, digest = file.stat().st_size, _digest(file)
    content: Any
    with rich.progress.open(
        file, "rb", console=console, disable=not console.is_terminal, transient=True
    ) as content:
        return client.upload_bitstream(
            content, name=name, version=version, size=size, digest=digest
        )


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return digest_of(stream)


def _report(stored: Bitstream, output: str) -> None:
    if output == "json":
        print_json(document(stored))
    else:
        print_fields(bitstream_fields(stored))
