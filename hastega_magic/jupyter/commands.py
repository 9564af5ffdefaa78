"""`%hastega COMMAND`: short answers about the last cell, the cache and the machine."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from IPython.core.display_functions import (
    publish_display_data,  # pyright: ignore[reportUnknownVariableType]
)
from IPython.core.error import UsageError

from hastega_magic.errors import UsageError as OptionError
from hastega_magic.jupyter.arguments import (
    EVERYWHERE,
    HELP,
    Arguments,
    cell_options,
    cell_parser,
    did_you_mean,
    options_from,
)
from hastega_magic.jupyter.everywhere import holds_pipe
from hastega_magic.syntax.stages import STAGES

if TYPE_CHECKING:
    from hastega_magic.jupyter.magics import HastegaMagics
    from hastega_magic.report.model import Report


def run(line: str, magics: HastegaMagics) -> None:
    """Run a command; UsageError, in one line, for one that does not exist."""
    name, _, rest = line.strip().partition(" ")
    command = COMMANDS.get("help" if not name or name in HELP else name)
    if command is not None:
        command.run(rest, magics)
    elif holds_pipe(line):
        raise UsageError(
            "%hastega takes a command: a pipeline stands below `%%hastega`, from the next line on"
        )
    elif name.startswith("-"):
        raise UsageError(
            f"%hastega has no command {name!r}: options stand behind `%%hastega`, or `%hastega on`"
        )
    else:
        raise UsageError(f"%hastega has no command {name!r}{did_you_mean(name, COMMANDS)}")


def _help(rest: str, magics: HastegaMagics) -> None:
    """What there is, or what a stage, a command or an option does."""
    asked, *_ = rest.split() or [""]
    if asked in COMMANDS:
        _say(_line_of(asked))
    elif (option := cell_options().get(asked)) is not None:
        takes = f" {option.metavar}" if option.metavar else ""
        _say(f"{asked}{takes}   {option.help}")
    elif asked.startswith("-"):
        cell_parser("%hastega help").read(asked)  # says what there is
    elif rest.strip():
        parser = Arguments("%hastega help", add_help=False)
        parser.add_argument("stage", choices=list(STAGES))
        _say(STAGES[parser.read(rest).stage].help)
    else:
        _say(overview())


def overview() -> str:
    """All commands, and the options of a cell."""
    return "\n".join([*map(_line_of, COMMANDS), "", cell_parser().format_help()])


def _line_of(name: str) -> str:
    command = COMMANDS[name]
    return f"{f'%hastega {name} {command.takes}'.rstrip():32}  {command.does}"


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
        file.write_text(_as_file(report, file.suffix.lower()), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"%hastega report: {file} cannot be written: {error.strerror}") from None
    _say(f"wrote {file}")


def _as_file(report: Report, suffix: str) -> str:
    """What is written into a file whose name ends so."""
    match suffix:
        case ".json":
            return json.dumps(report.to_dict(), indent=1) + "\n"
        case ".txt":
            return report.to_text() + "\n"
        case _:
            return report.to_page()


def _cache(rest: str, magics: HastegaMagics) -> None:
    """Say what the cache of loops holds, or empty it."""
    parser = Arguments("%hastega cache", add_help=False)
    parser.add_argument("action", nargs="?", choices=["clear"])
    action: str | None = parser.read(rest).action
    from hastega_magic.compiler.loops import cached_loops, clear_cache
    from hastega_magic.runtime.objects import boxes

    loops = cached_loops()
    sizes = [body.program.code_bytes for loop in loops for body in loop.bodies.values()]
    what = f"{len(loops)} compiled loop{'' if len(loops) == 1 else 's'}, {sum(sizes)} bytes of machine code"
    if drivers := sizes.count(0):
        what += f" (and {drivers} OpenCL program{'' if drivers == 1 else 's'}, with the driver)"
    if action == "clear":
        clear_cache()
        boxes.forget()
    _say(f"forgot {what}" if action == "clear" else what)


def _devices(rest: str, magics: HastegaMagics) -> None:
    """Show what can compute here."""
    Arguments("%hastega devices", add_help=False).read(rest)
    from hastega_magic.doctor.devices import devices
    from hastega_magic.doctor.tables import html, lines
    from hastega_magic.report.escape import markup

    table, note = devices()
    text = [*lines(table, indent=""), *([note] if note else [])]
    _show("\n".join(text), html(table) + (f"<div>{markup(note)}</div>" if note else ""))


def _doctor(rest: str, magics: HastegaMagics) -> None:
    """Examine this machine."""
    parser = Arguments("%hastega doctor", add_help=False, allow_abbrev=False)
    parser.add_argument("--on", metavar="BACKEND,...", default="")
    asked: str = parser.read(rest).on
    from hastega_magic.doctor import examine
    from hastega_magic.doctor.present import to_html, to_text

    try:
        examination = examine(asked)
    except OptionError as error:
        raise UsageError(f"%hastega doctor: {error}") from None
    _show(to_text(examination).rstrip("\n"), to_html(examination))


def _calibrate(rest: str, magics: HastegaMagics) -> None:
    """Measure this machine."""
    Arguments("%hastega calibrate", add_help=False).read(rest)
    from hastega_magic.calibration.machine import calibrate
    from hastega_magic.calibration.summary import lines
    from hastega_magic.compiler.choice import costs
    from hastega_magic.jupyter.progress import Bar
    from hastega_magic.progress import listening

    began = time.perf_counter()
    with listening(Bar(magics.its_shell)):
        machine = calibrate()
    store = costs.store()
    took = time.perf_counter() - began
    _say(f"measured{f' in {took:.1f} s' if took > 0 else ''}; {store.said or f'kept in {store.file}'}")
    for line in lines(machine):
        _say(f"  {line}")


def _edit(rest: str, magics: HastegaMagics) -> None:
    """Put a kernel into a new cell."""
    from hastega_magic.jupyter.edit import edit

    edit(rest, magics)


def _on(rest: str, magics: HastegaMagics) -> None:
    """Let `|>` work in every cell, without reports unless they are asked for."""
    words = rest.split()
    told = "--report" in words
    line = " ".join(word for word in words if word != "--report")
    if told and "--quiet" in words:
        raise UsageError(f"{EVERYWHERE}: --report asks for what --quiet hides: say one of them")
    chosen = options_from(line, {}, EVERYWHERE)  # a wrong one is to be told now, not in the next cell
    own = "--no-baseline" if chosen.show or chosen.quiet else "--quiet --no-baseline"
    magics.everywhere.on(line if told else f"{own} {line}".rstrip())


def _off(rest: str, magics: HastegaMagics) -> None:
    """Leave cells alone again."""
    Arguments("%hastega off", add_help=False).read(rest)
    magics.everywhere.off()


def _show(text: str, html: str) -> None:
    """Display both forms: a front end takes the HTML, a terminal the text."""
    from hastega_magic.report.writable import writable

    publish_display_data({"text/html": html, "text/plain": writable(text)})


def _say(text: str = "") -> None:
    from hastega_magic.report.writable import writable

    print(writable(text))  # noqa: T201  the answer


class Command(NamedTuple):
    """What runs it, and what `%hastega help` says that it takes and does."""

    run: Callable[[str, HastegaMagics], None]
    takes: str
    does: str


COMMANDS: Mapping[str, Command] = {
    "help": Command(_help, "[STAGE]", "this; what a stage takes and does (as `xs |> STAGE?`)"),
    "report": Command(
        _report,
        "[--save FILE]",
        "show the report of the last cell again, or write it as a web page (.json, .txt)",
    ),
    "cache": Command(_cache, "[clear]", "the loops that need no compiling again; forget them"),
    "devices": Command(_devices, "", "what can compute here"),
    "calibrate": Command(_calibrate, "", "measure this machine, in some seconds, for what --on auto chooses"),
    "doctor": Command(
        _doctor, "[--on BACKEND]", "what works here, what does not, and what to type to mend it"
    ),
    "edit": Command(
        _edit, "llvm|opencl [NAME]", "put the kernel of a result into a new cell, to be changed and run"
    ),
    "on": Command(
        _on, "[OPTION ...]", "from now on, |> works in every cell; with --report, reports are shown"
    ),
    "off": Command(_off, "", "from now on, it works in %%hastega cells alone"),
}
"""All commands, by name."""
