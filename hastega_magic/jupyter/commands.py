"""`%hastega COMMAND`: short answers about the last cell, the cache and the machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from IPython.core.error import UsageError

from hastega_magic.errors import UsageError as OptionError
from hastega_magic.jupyter.arguments import Arguments, cell_parser, did_you_mean

if TYPE_CHECKING:
    from hastega_magic.jupyter.magics import HastegaMagics

_LATER = ("doctor", "calibrate", "on", "off", "edit")
"""Commands of the design that this version has not."""


def run(line: str, magics: HastegaMagics) -> None:
    """Run a command; UsageError, in one line, for one that does not exist."""
    name, _, rest = line.strip().partition(" ")
    command = _COMMANDS.get(name or "help")
    if command is not None:
        command(rest, magics)
    elif name in _LATER:
        raise UsageError(f"%hastega {name} is not in this version; there are {', '.join(_COMMANDS)}")
    else:
        raise UsageError(f"%hastega has no command {name!r}{did_you_mean(name, _COMMANDS)}")


def _help(rest: str, magics: HastegaMagics) -> None:
    """What there is."""
    Arguments("%hastega help", add_help=False).read(rest)
    _say("%hastega report [--save FILE]   show the report of the last cell again, or write it as a web page")
    _say("%hastega cache [clear]          the loops that need no compiling again; forget them")
    _say("%hastega devices                what can compute here")
    _say()
    _say(cell_parser().format_help())


def _report(rest: str, magics: HastegaMagics) -> None:
    """Show or save the last report."""
    parser = Arguments("%hastega report", add_help=False, allow_abbrev=False)
    parser.add_argument("--save", metavar="FILE")
    target: str | None = parser.read(rest).save
    try:
        report = magics.report()
    except OptionError as error:
        raise UsageError(f"%hastega report: {error}") from None
    if target is None:
        from hastega_magic.jupyter.display import show_report

        show_report(report, magics.its_shell)
        return
    file = Path(target).expanduser()
    try:
        file.write_text(report.to_page(), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"%hastega report: {file} cannot be written: {error.strerror}") from None
    _say(f"wrote {file}")


def _cache(rest: str, magics: HastegaMagics) -> None:
    """Say what the cache of loops holds, or empty it."""
    parser = Arguments("%hastega cache", add_help=False)
    parser.add_argument("action", nargs="?", choices=["clear"])
    action: str | None = parser.read(rest).action
    from hastega_magic.compiler.loops import cached_loops, clear_cache

    loops = cached_loops()
    code = sum(body.program.code_bytes for loop in loops for body in loop.bodies.values())
    what = f"{len(loops)} compiled loop{'' if len(loops) == 1 else 's'}, {code} bytes of object code"
    if action == "clear":
        clear_cache()
    _say(f"forgot {what}" if action == "clear" else what)


def _devices(rest: str, magics: HastegaMagics) -> None:
    """Say what can compute here."""
    Arguments("%hastega devices", add_help=False).read(rest)
    from hastega_magic.runtime.cpu import host
    from hastega_magic.runtime.threads import default_threads

    target, threads = host(), default_threads()
    _say(
        f"parallel   {target.cpu}, {target.isa}, {threads} thread{'' if threads == 1 else 's'} (the default)"
    )
    _say(f"simd       {target.cpu}, {target.isa}, one thread")
    from hastega_magic.runtime import opencl

    try:
        found = opencl.devices()
    except OptionError as error:
        _say(f"opencl     none: {error}")
        return
    if not found:
        _say(
            "opencl     none: no driver was found; `pip install hastega-magic[pocl]` installs one for the CPU"
        )
    for each in found:
        memory, precision = each.memory / (1 << 30), "" if each.float64 else ", no float64"
        _say(
            f"opencl:{each.number}   {each.name} ({each.kind}, {each.platform}), {each.units} units, "
            f"{memory:.1f} GiB{precision}"
        )


def _say(text: str = "") -> None:
    print(text)  # noqa: T201  the answer


_COMMANDS: Mapping[str, Callable[[str, HastegaMagics], None]] = {
    "help": _help,
    "report": _report,
    "cache": _cache,
    "devices": _devices,
}
