"""Prints the figures; ``--json`` as one document. Exit code 1 when an aim is missed."""

import argparse
import json
import sys
from dataclasses import asdict

from bench import loads, node
from bench.figures import Figure

SUITES = {"node": node.measure, "loads": loads.measure}


def main() -> int:
    """Measure the chosen suites."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("suites", nargs="*", help="default: all")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: list[Figure] = []
    for name in options.suites or SUITES:
        found = SUITES[name]()
        figures += found
        if not options.json:
            print("\n".join(figure.line() for figure in found), flush=True)
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=2))
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
