"""An examination as text and as HTML: what is wrong first, then what works, then the facts."""

from __future__ import annotations

from collections.abc import Iterable

from hastega_magic.doctor import tables
from hastega_magic.doctor.child import N
from hastega_magic.doctor.model import Examination, Problem, Table, Trial
from hastega_magic.report.escape import markup, one_line, visible
from hastega_magic.report.units import grouped, plural

_MARKS = {"error": "✗", "warning": "!"}
_STATES = {"works": "✓", "fails": "✗", "absent": "–"}
_BOXES = {
    "error": "background:#fdecea;color:#8a1410;border-left:4px solid #b3261e;padding:3px 8px;margin:3px 0",
    "warning": "background:#fdf3d8;color:#4d3800;border-left:4px solid #a67c00;padding:3px 8px;margin:3px 0",
}
_COMMAND = (
    "background:transparent;color:inherit;white-space:pre-wrap;margin:2px 0 2px 1.2em;padding:0;border:0"
)
_WORKS = f"Tried: the sum of squares below {grouped(N)}"


def verdict(examination: Examination) -> str:
    """One line: what works, and how many problems there are."""
    counts = {level: sum(each.level == level for each in examination.problems) for level in _MARKS}
    told = [plural(count, level) for level, count in counts.items() if count]
    working = (
        "everything that is needed works" if examination.ok else "something that is needed does not work"
    )
    return f"hastega doctor: {', '.join([working, *told])}"


def to_text(examination: Examination) -> str:
    """Lines for a terminal, without colours."""
    return "\n".join(_text(examination)) + "\n"


def _text(examination: Examination) -> Iterable[str]:
    yield verdict(examination)
    for problem in examination.problems:
        yield ""
        yield f"{_MARKS[problem.level]} {problem.level}: {one_line(problem.text)}"
        # A command is shown as it has to be typed.
        yield from (f"      {visible(command)}" for command in problem.mend)
    yield ""
    yield _WORKS
    yield from tables.lines(_tried(examination.trials))
    for table in examination.tables:
        yield ""
        yield table.title
        yield from tables.lines(table)


def _tried(trials: Iterable[Trial]) -> Table:
    return Table(
        _WORKS, tuple((f"{_STATES[each.state]} {each.backend}", each.state, each.text) for each in trials)
    )


def to_html(examination: Examination) -> str:
    """An HTML fragment: no script, no style element; where a background is set, the ink is set with it."""
    parts = [f"<div><b>{markup(verdict(examination))}</b></div>"]
    parts += map(_problem, examination.problems)
    parts.append(
        f'<div style="margin-top:6px">{markup(_WORKS)}</div>{tables.html(_tried(examination.trials))}'
    )
    parts += (
        f'<details style="margin:2px 0"><summary style="cursor:pointer"><b>{markup(table.title)}</b></summary>'
        f'<div style="margin:4px 0 8px 14px">{tables.html(table)}</div></details>'
        for table in examination.tables
    )
    return f'<div dir="ltr" style="line-height:1.5;max-width:1000px">{"".join(parts)}</div>'


def _problem(problem: Problem) -> str:
    commands = "\n".join(map(visible, problem.mend))
    shown = f'<pre style="{_COMMAND}">{markup(commands)}</pre>' if commands else ""
    text = f"{_MARKS[problem.level]} {problem.level}: {one_line(problem.text)}"
    return f'<div style="{_BOXES[problem.level]}">{markup(text)}{shown}</div>'


__all__ = ["to_html", "to_text", "verdict"]
