"""The ``fpga-plugin`` command: arguments and exit codes, nothing else."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fpga_common.domain.errors import InvalidConfiguration
from fpga_plugin.settings import load_settings

EXIT_CONFIGURATION: Final = 2
"""Exit code of a broken configuration; argparse uses the same for wrong arguments."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except InvalidConfiguration as error:
        print(f"fpga-plugin: {error.message}", file=sys.stderr)
        return EXIT_CONFIGURATION
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fpga-plugin", description="One node's FPGAs for kubelet and bitstream manager."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_serve(commands)
    _add_inventory(commands)
    _add_doctor(commands)
    return parser


def _add_serve(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    serve = commands.add_parser("serve", help="serve kubelet and manager until SIGTERM")
    _add_config(serve)
    serve.set_defaults(run=_serve)


def _add_inventory(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    inventory = commands.add_parser("inventory", help="print the cards that are there now")
    inventory.add_argument(
        "--host-root",
        type=Path,
        default=Path("/"),
        metavar="DIR",
        help="folder that holds the host's sys and dev (default: /)",
    )
    _add_output(inventory)
    inventory.set_defaults(run=_inventory)


def _add_doctor(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    doctor = commands.add_parser("doctor", help="find out why something does not work")
    _add_config(doctor)
    _add_output(doctor)
    doctor.set_defaults(run=_doctor)


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="YAML file; FPGA_PLUGIN_* variables win over it"
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", choices=("json", "table"), default="table", help="(default: table)"
    )


def _serve(options: argparse.Namespace) -> int:
    settings = load_settings(options.config, os.environ)
    _quieten_grpc()
    from fpga_plugin.serve import run

    return run(settings)


def _doctor(options: argparse.Namespace) -> int:
    settings = load_settings(options.config, os.environ)
    _quieten_grpc()
    from fpga_plugin.doctor import run

    return run(settings, options.output)


def _quieten_grpc() -> None:
    """Keep gRPC's C core, which reads this when it is loaded, from remarks in a format of its own.

    It remarks on every connection that ends, as each does when a kubelet restarts.
    """
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")


def _inventory(options: argparse.Namespace) -> int:
    from fpga_common.domain.documents import inventory_document
    from fpga_common.observability.logging import configure_logging
    from fpga_plugin.inventory.once import read_once
    from fpga_plugin.inventory.table import inventory_table

    if not (options.host_root / "sys").is_dir():
        raise InvalidConfiguration(
            "host_root", f"found {str(options.host_root)!r}, expected a folder with sys and dev"
        )
    configure_logging(level="warning", log_format="text")
    cards = read_once(options.host_root)
    if options.output == "json":
        print(json.dumps(inventory_document(cards), indent=2, ensure_ascii=False))
    else:
        print(inventory_table(cards))
    return 0


if __name__ == "__main__":
    sys.exit(main())
