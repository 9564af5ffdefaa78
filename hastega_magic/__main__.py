"""The command line: `python -m hastega_magic COMMAND`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from hastega_magic.doctor.command import add_parser
from hastega_magic.report.writable import make_output_forgiving


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; without one, print what there is. Returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m hastega_magic",
        description="Hastega for Python notebooks, seen from a shell.",
        epilog="In a notebook: %load_ext hastega_magic. Benchmarks: python -m hastega_magic.benchmarks.",
    )
    add_parser(parser.add_subparsers(metavar="COMMAND"))
    given = parser.parse_args(arguments)
    if not hasattr(given, "run"):
        parser.print_help()
        return 0
    return given.run(given)


if __name__ == "__main__":
    make_output_forgiving()
    sys.exit(main())
