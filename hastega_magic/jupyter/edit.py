"""`%hastega edit llvm` puts a kernel into a new cell; `%%hastega_kernel llvm NAME` runs what became of it there.

    %%hastega_kernel llvm total
    define void @hastega(ptr noalias %words, ptr noalias %scratch) #0 {
    ...

The result `total` stays as it is; what the edited kernel gave is in `total_edited`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.core.display_functions import (
    publish_display_data,  # pyright: ignore[reportUnknownVariableType]
)
from IPython.core.error import UsageError

from hastega_magic.errors import UsageError as OptionError
from hastega_magic.jupyter.arguments import Arguments
from hastega_magic.report import svg, units
from hastega_magic.report.charts import Row, baseline_image
from hastega_magic.report.escape import markup

if TYPE_CHECKING:
    from argparse import Namespace

    from hastega_magic.compiler.editing.edited import EditedRun
    from hastega_magic.jupyter.magics import HastegaMagics

SUFFIX = "_edited"
"""What is put behind the names of the original's results."""

_LANGUAGES = ("llvm", "opencl")
_GOOD = "background:#d6f0dc;color:#0c3a1c;border-left:4px solid #3d7f59;padding:3px 8px;margin:3px 0"
_BAD = f"background:{svg.ALARM_FILL};color:#8a1410;border-left:4px solid {svg.ALARM};padding:3px 8px;margin:3px 0"


def edit(rest: str, magics: HastegaMagics) -> None:
    """Put the kernel of a result (by default the last cell's last) into a new cell."""
    found = _read("%hastega edit", rest)
    from hastega_magic.compiler.comparing.kept import choose
    from hastega_magic.compiler.editing.edited import text_of

    try:
        kept = choose(magics.kept(), found.name)
        text = text_of(kept, found.language)
    except OptionError as error:
        raise UsageError(f"%hastega edit: {error}") from None
    name = found.name or kept.names[-1]
    magics.its_shell.set_next_input(f"%%hastega_kernel {found.language} {name}\n{text.rstrip()}\n")


def run_kernel(line: str, cell: str, magics: HastegaMagics) -> None:
    """Try the kernel in the cell beside the original, assign what it gave, and show how it compares."""
    found = _read("%%hastega_kernel", line, named=True)
    from hastega_magic.compiler.comparing.kept import choose
    from hastega_magic.compiler.editing.edited import run_edited

    try:
        kept = choose(magics.kept(), found.name)
    except OptionError as error:
        again = f"run the cell that gives {found.name} again, then this one"
        raise UsageError(f"%%hastega_kernel: {error}; {again}") from None
    try:
        run = run_edited(kept, found.language, cell)
    except OptionError as error:
        raise UsageError(f"%%hastega_kernel: {error}") from None
    shell = magics.its_shell
    for name, value in run.values.items():
        shell.user_ns[name + SUFFIX] = value
    publish_display_data({"text/plain": to_text(run), "text/html": to_html(run)})


def _read(magic: str, line: str, named: bool = False) -> Namespace:
    """The language and the name of a result, which has to be there if `named`, and else may be ""."""
    parser = Arguments(magic, add_help=False, allow_abbrev=False)
    parser.add_argument("language", nargs="?", choices=_LANGUAGES)
    parser.add_argument("name", nargs="?", default="")
    found = parser.read(line)
    usage = f"{magic} {found.language or '|'.join(_LANGUAGES)} {'NAME' if named else '[NAME]'}"
    if found.language is None:
        parser.error(f"the language of the kernel is missing: {usage}")
    if named and not found.name:
        parser.error(f"the name of the result is missing: {usage}")
    return found


def to_text(run: EditedRun) -> str:
    """Three lines: what is compared, whether the results are equal, and the times."""
    return "\n".join((_head(run), _verdict(run), *_notes(run), _times(run)))


def to_html(run: EditedRun) -> str:
    """The same with the times as bars; static, without script and style elements."""
    rows = (
        Row("edited", run.seconds, _time(run.seconds, run.spread), ours=True),
        Row("original", run.original_seconds, _time(run.original_seconds, run.original_spread)),
    )
    parts = [
        f"<div><b>{markup(_head(run))}</b></div>",
        f'<div style="{_GOOD if run.equal else _BAD}">{markup(_verdict(run))}</div>',
        *(f"<div>{markup(note)}</div>" for note in _notes(run)),
        f'<div style="margin:4px 0">{baseline_image(rows)}</div>' if _measured(run) else "",
        f"<div>{markup(_times(run))}</div>",
    ]
    return f'<div dir="ltr" style="line-height:1.5;max-width:1000px">{"".join(parts)}</div>'


def _head(run: EditedRun) -> str:
    names = ", ".join(name + SUFFIX for name in run.values)
    over = units.plural(run.of, "element")
    if run.elements != run.of:
        over = f"the first {units.grouped(run.elements)} of {over}"
    return f"edited {run.language} kernel · {run.backend} · {over} · {names}"


def _verdict(run: EditedRun) -> str:
    return "✓ equal to the original" if run.equal else f"✗ not equal: {run.difference}"


def _notes(run: EditedRun) -> list[str]:
    if not run.by_python:
        return []
    return [f"{units.plural(run.by_python, 'block')} left to Python"]


def _measured(run: EditedRun) -> bool:
    return run.seconds > 0 and run.original_seconds > 0


def _times(run: EditedRun) -> str:
    if not _measured(run):
        return "nothing to measure: without elements neither runs"
    ratio = run.original_seconds / run.seconds
    spread = max(high / low if low > 0 else 1.0 for low, high in (run.spread, run.original_spread))
    return (
        f"edited {units.seconds(run.seconds)}, original {units.seconds(run.original_seconds)}: "
        f"{units.digits(ratio, 3)} × as fast (medians of {units.plural(run.runs, 'run')} in turns; "
        f"slowest ÷ fastest up to {units.digits(spread, 2)})"
    )


def _time(seconds: float, spread: tuple[float, float]) -> str:
    return f"{units.seconds(seconds)} ({units.seconds(spread[0])} to {units.seconds(spread[1])})"


__all__ = ["SUFFIX", "edit", "run_kernel", "to_html", "to_text"]
