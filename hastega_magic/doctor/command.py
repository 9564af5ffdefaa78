"""The command line: `python -m hastega_magic doctor`."""

from __future__ import annotations

import argparse
import json
import sys

from hastega_magic.errors import UsageError

_STATUS = """\
exit status:
  0   every back end that has to work was tried and works
  1   one of them does not; the problems marked ✗ say why, and what to type
  2   the command line is wrong

Without --on, python, numpy, simd and parallel have to work, and opencl where pyopencl is installed:
of its devices the one that --on opencl takes, the first GPU, else the first device.
Problems marked ! keep none of these from working.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    """Add the command `doctor` to those of `python -m hastega_magic`."""
    parser = commands.add_parser(
        "doctor",
        help="say what works here, what does not, and what to type to mend it",
        description="Try every back end, and say what is missing and what to type to mend it.",
        epilog=_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument(
        "--on",
        metavar="BACKEND,...",
        default="",
        help="what has to work: python, numpy, simd, parallel, opencl[:DEVICE]",
    )
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    from hastega_magic.doctor import examine
    from hastega_magic.doctor.present import to_text

    try:
        examination = examine(given.on)
    except UsageError as error:
        sys.stderr.write(f"doctor: {error}\n")
        return 2
    text = json.dumps(examination.to_dict(), indent=2) + "\n" if given.json else to_text(examination)
    sys.stdout.write(text)
    return 0 if examination.ok else 1


__all__ = ["add_parser"]
