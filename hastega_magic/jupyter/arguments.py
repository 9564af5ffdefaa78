"""Options of the magics: what they are called, what they mean, and one line for those that cannot be.

%%hastega --on simd --int checked    →    Options(on="simd", int_mode="checked")
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from typing import Any, NoReturn

from IPython.core.error import UsageError

from hastega_magic.compiler.options import BACKENDS, INT_MODES, SECTIONS, Options, did_you_mean
from hastega_magic.errors import UsageError as OptionError

CELL = "%%hastega"

EVERYWHERE = "%hastega on"
"""The other that takes the options of a cell, and one of its own."""

NAMES = tuple(field.name for field in fields(Options))
"""The options, as the traits of the magics are called too."""

HELP = frozenset({"-h", "--help"})
"""What is asked for in shells."""

_DASHES = "-\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}"
"""What editors make of two of them, too."""


class Arguments(argparse.ArgumentParser):
    """A parser that says what is wrong in one line, and names the nearest option."""

    def error(self, message: str) -> NoReturn:
        """Raise IPython's UsageError, which is shown as one line."""
        said = message.removeprefix("argument ")
        if missing := re.fullmatch(r"(\S+): expected one argument", said):
            takes = next(each for each in self._actions if missing[1] in each.option_strings)
            said = f"a value is missing: {missing[1]} {takes.metavar}"
        raise UsageError(f"{self.prog}: {said}")

    def read(self, line: str) -> argparse.Namespace:
        """The options in the line after the magic's name; UsageError for what is none of them."""
        try:
            words = shlex.split(line)
        except ValueError as error:  # a quote that is not closed
            self.error(str(error).lower())
        self._check_switches(words)
        found, rest = self.parse_known_args(words)
        if rest:
            self._refuse(rest[0])
        return found

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """What argparse calls for a value of which there are only some."""
        if action.choices is not None and value not in action.choices:
            self.error(f"there is no {action.dest} {value!r}{did_you_mean(value, tuple(action.choices))}")

    def _check_switches(self, words: Sequence[str]) -> None:
        switches = {name for action in self._actions if action.nargs == 0 for name in action.option_strings}
        for word in words:
            name, equals, value = word.partition("=")
            if equals and name in switches:
                self.error(f"{name} is on where it stands, and takes no value: {value!r} is too much")

    def _refuse(self, word: str) -> NoReturn:
        name = word.partition("=")[0]
        bare = name.lstrip(_DASHES)
        options = {option: each for each in self._actions for option in each.option_strings}
        if name in HELP:
            self.error("`%hastega help` tells what there is")
        if not name.startswith("-"):
            dashed = f"--{bare}"
            valued = [option for option, each in options.items() if each.nargs is None]
            if dashed in options:
                meant = f": did you mean {dashed}?"
            elif name.startswith("#"):
                meant = ": a comment stands on a line of its own, below"
            elif "--compare" in options and name in BACKENDS:
                meant = ": a back end stands behind --on; several behind --compare, with commas alone between them"
            elif "--show" in options and name in SECTIONS:
                meant = ": a section stands behind --show; several with commas alone between them"
            elif len(options) == len(valued) == 1:
                may_be = valued[0] != "--on" or name.partition(":")[0] in BACKENDS
                meant = f": did you mean {valued[0]} {name}?" if may_be else f": it takes {valued[0]} alone"
            else:
                meant = ": the cell's code begins on the next line" if self.prog.startswith("%%") else ""
            self.error(f"unexpected {name!r}{meant}")
        keyword = bare.replace("-", "_")
        if "--tune" in options and keyword in ("seconds", "tune_seconds"):
            self.error(f"there is no option {name}: `%config HastegaMagics.tune_seconds = 5` sets it")
        without = f"--{bare.removeprefix('no-')}" if bare.startswith("no-") else f"--no-{bare}"
        if without in options and options[without].nargs == 0:
            self.error(f"there is no option {name}: leave {without} out")
        meant = next((option for option, each in options.items() if each.dest == keyword), name)
        known = [*options, *(str(choice) for each in self._actions for choice in each.choices or ())]
        self.error(f"there is no option {name}{did_you_mean(meant, known)}")


@cache
def cell_parser(magic: str = CELL) -> Arguments:
    """The options of `%%hastega`, or of another magic that takes them; what is not given is None."""
    parser = Arguments(magic, add_help=False, allow_abbrev=False, argument_default=None)
    add = parser.add_argument
    add("--on", metavar="BACKEND", help=f"what computes: {', '.join(BACKENDS)}; opencl:DEVICE")
    add("--compare", metavar="BACKEND,...", type=_names, help="measure these as well, beside the baselines")
    add("--no-baseline", dest="baseline", action="store_false", help="time neither pure Python nor NumPy")
    add("--int", dest="int_mode", metavar="MODE", help=f"beyond 64 bits: {', '.join(INT_MODES)}")
    add("--fast-math", action="store_true", help="let floating-point operations be contracted")
    add("--no-fuse", dest="fuse", action="store_false", help="one loop per stage")
    add("--threads", metavar="N", type=_whole, help="at most so many threads (0: all CPUs)")
    add("--width", metavar="LANES", type=_whole, help="lanes of a vector (0: what the CPU has)")
    add(
        "--device-memory",
        metavar="MIB",
        type=_mebibytes,
        help="so much of an OpenCL device (0: most of its memory)",
    )
    add("--repeat", metavar="N", type=_whole, help="run so many times, report the median")
    add("--tune", action="store_true", help="try schedules for about two seconds, and remember the fastest")
    add(
        "--widgets", action="store_true", help="a panel under the report, to measure again with other choices"
    )
    add("--strict", action="store_true", help="a stage that cannot be compiled is an error")
    add("--quiet", action="store_true", help="show no report")
    add("--show", metavar="SECTION,...", type=_names, help=f"print these alone: {', '.join(SECTIONS)}")
    if magic == EVERYWHERE:
        add("--report", action="store_true", help="show reports")
    # A switch that is not given has no value either: the configured default then holds.
    parser.set_defaults(**{action.dest: None for action in parser._actions})  # noqa: SLF001
    return parser


def cell_options() -> Mapping[str, argparse.Action]:
    """The options of a cell by name; argparse has no other list of them."""
    return {name: each for each in cell_parser()._actions for name in each.option_strings}  # noqa: SLF001


def options_from(line: str, defaults: Mapping[str, Any], magic: str = CELL) -> Options:
    """The options of a cell: those in its first line over the defaults. UsageError, in one line."""
    given = _given(line, magic)
    chosen: dict[str, Any] = {**defaults, **given}
    if given.get("quiet"):
        if given.get("show"):
            raise UsageError(f"{magic}: --show asks for what --quiet hides: say one of them")
        chosen["show"] = ()
    if chosen.get("show"):
        chosen["quiet"] = False  # the compiler gathers what is to be shown
    try:
        return Options(**chosen)
    except OptionError as error:
        raise UsageError(f"{magic}: {_by_flag(error)}") from None


def _by_flag(error: OptionError) -> str:
    """What it says of an option by its keyword, said of the one that magics take."""
    flags = {action.dest: action.option_strings[0] for action in cell_parser()._actions}  # noqa: SLF001
    return flags.get(error.option, error.option) + str(error).removeprefix(error.option)


@lru_cache(64)
def _given(line: str, magic: str) -> Mapping[str, Any]:
    """The options that stand in the line; a cell that runs again has the line that it had."""
    found = vars(cell_parser(magic).read(line))
    return {name: value for name, value in found.items() if value is not None}


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a whole number is needed, not {text!r}") from None


def _mebibytes(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"a whole number of MiB is needed, such as 512, not {text!r}"
        ) from None


def _names(text: str) -> tuple[str, ...]:
    """The words between commas; an empty text has none."""
    words = tuple(word.strip() for word in text.split(",")) if text.strip() else ()
    if not all(words):
        raise argparse.ArgumentTypeError(
            f"there is a name missing in {text!r}: several stand without blanks, as simd,parallel do"
        )
    return words
