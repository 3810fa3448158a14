"""``fpga-sim``: write, list, break and heal simulated cards below a folder."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from fpga_common.domain.errors import FpgaError, Permanent
from fpga_common.domain.operation import FailureCode
from fpga_common.domain.simulation import is_simulated
from fpga_common.testing.sim.card import Fault, SimulatedCard
from fpga_common.testing.sim.host import SimulatedHost
from fpga_common.testing.sim.profiles import PROFILES, profile_named

USAGE_ERROR = 2


class NotSimulated(Permanent):
    """The folder holds no simulated host."""

    code = "not_simulated"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; exit code 0, or 2 with one line on stderr."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], None] = options.command
    try:
        command(options)
    except FpgaError as error:
        expected = f" (expected: {error.expected})" if error.expected else ""
        print(f"fpga-sim: {error.message}{expected}", file=sys.stderr)
        return USAGE_ERROR
    except OSError as error:
        print(f"fpga-sim: {error}", file=sys.stderr)
        return USAGE_ERROR
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fpga-sim", description="Simulated FPGA cards below a folder."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    write = _command(commands, "write", _write, "make sure that the folder has these cards")
    write.add_argument(
        "--card",
        action="extend",
        nargs="+",
        required=True,
        metavar="PROFILE",
        help=f"one of {', '.join(PROFILES)}; name it again for a second card of the kind",
    )
    write.add_argument("--numa-node", type=int, default=0, help="NUMA node of new cards; -1: none")
    write.add_argument("--programming-seconds", type=float, help="how long a programming takes")
    listing = _command(commands, "list", _list, "list the cards")
    listing.add_argument("-o", "--output", choices=("table", "json"), default="table")
    breaking = _card_command(commands, "break", _break, "break a card")
    breaking.add_argument("fault", type=Fault, choices=list(Fault), metavar="FAULT", help=_faults())
    breaking.add_argument(
        "--code",
        type=FailureCode,
        choices=list(FailureCode),
        default=FailureCode.PROGRAMMING_REJECTED,
        metavar="CODE",
        help="with fail-programming: the failure's code",
    )
    breaking.add_argument("--attribute", help="with hang-read and break-attribute: which one")
    _card_command(commands, "heal", lambda options: _card(options).heal(), "undo every fault")
    _card_command(commands, "unplug", lambda options: _card(options).unplug(), "take a card out")
    _card_command(commands, "replug", lambda options: _card(options).replug(), "put it back")
    return parser


def _faults() -> str:
    return "one of " + ", ".join(Fault)


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    command: Callable[[argparse.Namespace], None],
    summary: str,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=summary, description=summary)
    parser.add_argument("--root", type=Path, required=True, help="the simulated host's root folder")
    parser.set_defaults(command=command)
    return parser


def _card_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    command: Callable[[argparse.Namespace], None],
    summary: str,
) -> argparse.ArgumentParser:
    parser = _command(commands, name, command, summary)
    parser.add_argument("card", metavar="CARD", help="the card's id, such as 0000:3b:00.0")
    return parser


def _write(options: argparse.Namespace) -> None:
    for profile in options.card:
        profile_named(profile)
    host = SimulatedHost(options.root)
    numa_node = None if options.numa_node < 0 else options.numa_node
    absent = Counter(options.card) - Counter(card.profile for card in host.cards)
    for profile in absent.elements():
        host.add_card(profile, numa_node=numa_node)
    if options.programming_seconds is not None:
        for card in host.cards:
            card.set_programming_seconds(options.programming_seconds)
    _print_table(host.cards)


def _list(options: argparse.Namespace) -> None:
    cards = _host(options).cards
    if options.output == "json":
        print(json.dumps({"cards": [_document(card) for card in cards]}, indent=2))
    else:
        _print_table(cards)


def _break(options: argparse.Namespace) -> None:
    card = _card(options)
    attribute = [options.attribute] if options.attribute else []
    actions: dict[Fault, Callable[[], None]] = {
        Fault.UNPLUG: card.unplug,
        Fault.OVERHEAT: card.overheat,
        Fault.LOSE_LINK_WIDTH: card.lose_link_width,
        Fault.FAIL_PROGRAMMING: lambda: card.fail_programming(options.code),
        Fault.HANG_READ: lambda: card.hang_read(*attribute),
        Fault.BREAK_ATTRIBUTE: lambda: card.break_attribute(*attribute),
        Fault.REMOVE_DEVICE_NODE: card.remove_device_node,
    }
    actions[options.fault]()


def _host(options: argparse.Namespace) -> SimulatedHost:
    if not is_simulated(options.root):
        raise NotSimulated(f"{options.root} holds no simulated host; fpga-sim write makes one")
    return SimulatedHost(options.root)


def _card(options: argparse.Namespace) -> SimulatedCard:
    return _host(options).card(options.card)


def _document(card: SimulatedCard) -> dict[str, object]:
    return {
        "id": card.id,
        "profile": card.profile,
        "plugged": card.plugged,
        "region": card.region_id,
        "interface_id": card.interface_id,
        "afu_id": card.afu_id,
        "device_node": card.device_node,
    }


def _print_table(cards: Sequence[SimulatedCard]) -> None:
    for card in cards:
        presence = "plugged" if card.plugged else "unplugged"
        print(f"{card.id}  {card.profile:8}  {presence:9}  {card.interface_id}  {card.device_node}")


if __name__ == "__main__":
    sys.exit(main())
