"""What was perhaps meant, where a pipeline reads a name that nobody has defined, or an attribute that is not there."""

from __future__ import annotations

import ast
import difflib
import itertools
import math
import re
import sys
import unicodedata
from collections.abc import Collection, Iterable

from hastega_magic.errors import CellSyntaxError, Span, lines_of
from hastega_magic.frames import links
from hastega_magic.syntax.foreign_names import written_here
from hastega_magic.syntax.reading.literals import DTYPES
from hastega_magic.syntax.reading.names import reads
from hastega_magic.syntax.reading.pipe import parse
from hastega_magic.syntax.site import Site, StageSite
from hastega_magic.syntax.stages import STAGES, function_arguments, suggest

_PYTHONS = (
    "sorted",
    "list",
    "tuple",
    "set",
    "frozenset",
    "dict",
    "len",
    "print",
    "str",
    "bytes",
    "next",
    "iter",
)
"""Python's own that a value is often handed to."""

_SHORT = {"np": "numpy as np", "pd": "pandas as pd", "pl": "polars as pl", "pa": "pyarrow as pa"}
_MODULES = sys.stdlib_module_names | {each.partition(" ")[0] for each in _SHORT.values()}
"""What is often read without an import."""
_CONSTANTS = frozenset({"pi", "tau", "inf", "nan"})


def hint(
    error: NameError | AttributeError | TypeError,
    sites: Collection[Site],
    text: str = "",
    failing: Site | None = None,
    filename: str = "",
) -> None:
    """Add a note to the error: the stage of a similar name, or how a stage's function is written.

    `text` is the cell's, of which a note shows the line, with a caret; `failing`: the pipeline that ran;
    `filename`: how tracebacks call the text.
    """
    if isinstance(error, TypeError):
        if (ran := _ran_at(error, text, filename)) is not None and not _ask_of_pipes(error, text, ran):
            from hastega_magic.syntax.misplaced import note_misplaced

            note_misplaced(error, sites, text, ran)
        return
    name: object = error.name  # of an AttributeError whatever the user's code says
    if not isinstance(name, str) or not name:
        return
    if isinstance(error, AttributeError):
        if not _is_stage_as_method(error, name, text, filename):
            _mark_only(error, text, re.compile(rf"(?<=\.){re.escape(name)}\b"), sites)
        return
    if name == "_":
        doubts = [each.sentence for site in sites for each in site.doubts if each.kind == "start"]
        element = "`_` stands for the element in stages behind `|>`: is one written as `|` or `>` here?"
        error.add_note(f"hastega: {[*doubts, element][0]}")
        return
    module = _of_module(name, sites)
    if module:
        error.add_note(f"hastega: {module}")
    for stage in (stage for site in sites for stage in site.stages):
        if meant := _of_stage(stage, name, bool(module)):
            error.add_note(f"hastega: {meant[0]}")
            _mark(error, text, stage, meant[1])
            return
    _mark_where_read(error, name, sites, text, failing, filename)


def _mark_where_read(
    error: NameError, name: str, sites: Collection[Site], text: str, failing: Site | None, filename: str
) -> None:
    """Note where a pipeline reads the undefined name, or the operator before it that may be meant as `|>`."""
    if (read := _read_at(error, text, filename)) is not None:
        if name in STAGES and _ask_of_pipes(error, text, read):
            return
        if any(site.span.line <= read.line <= site.span.end_line for site in sites):
            error.add_note(marked(text, read, len(name)))
        return
    word = re.compile(rf"\b{re.escape(name)}\b")
    for stage in () if failing is None else failing.stages:
        if word.search(stage.text.partition("\n")[0]):
            _mark(error, text, stage, name)
            return
    _mark_only(error, text, word, sites)


def _is_stage_as_method(error: AttributeError, name: str, text: str, filename: str) -> bool:
    """Note that a stage is asked for as a method of what a pipeline may go through, as in `xs.map(f)`; False if not."""
    ran = _ran_at(error, text, filename)
    if name not in STAGES or ran is None or not hasattr(type(error.obj), "__iter__"):
        return False
    error.add_note(f"hastega: `{name}` is a stage: is it meant as `|> {name}`?")
    error.add_note(marked(text, ran._replace(col=ran.end_col - len(name)), len(name)))
    return True


def _of_module(name: str, sites: Collection[Site]) -> str:
    """What is said of a module, or of what `math` has under the name that an argument of a stage reads; or ""."""
    if (name in _SHORT or name in _MODULES) and any(_has_part(site.text, name) for site in sites):
        return f"`{name}` is not imported yet: `import {_SHORT.get(name, name)}`"
    given = [stage.text for site in sites for stage in site.stages if stage.known]
    if name.lower() in _MODULES and any(_has_part(each, name) for each in given):
        return f"`{name}` is not defined: did you mean {name.lower()}?"
    there = name in _CONSTANTS or (not name.startswith("_") and callable(getattr(math, name, None)))
    word = re.compile(rf"\(.*(?<![\w.]){re.escape(name)}\b", re.DOTALL)
    return (
        f"`{name}` is not defined: did you mean math.{name}?"
        if there and any(map(word.search, given))
        else ""
    )


def _of_stage(stage: StageSite, name: str, module: bool) -> tuple[str, str] | None:
    """What is wrong with a stage that reads an undefined name, and where; None: nothing. `module`: it is one's."""
    if stage.name.startswith(f"{name}.") and (near := written_here(stage.name)):
        return f"`{stage.name}` is no stage: did you mean {near}?", stage.name
    if not stage.known and stage.name == name:
        near = f"map(math.{name})" if callable(getattr(math, name, None)) else written_here(name)
        near = near or suggest(name, _PYTHONS)
        meant = f": did you mean {near}?" if near else ", and no function of that name is defined"
        return f"`{name}` is no stage{meant}", name
    if stage.known and stage.name == "astype" and (close := difflib.get_close_matches(name, DTYPES, n=1)):
        return f"types are written as strings: `astype({close[0]!r})`", name
    if stage.known and not module and _is_function_over(stage.text, name):
        better = f"`{stage.name}(lambda {name}: ...)`, or call the element `_`"
        return f"`{stage.text}` takes a function: write {better}", name
    return None


_BOTH = r"unsupported operand type\(s\) for (?:\||>>): |'>' not supported between instances of (?!'(?:int|float)')"
_REFUSED = re.compile(
    rf"(?:{_BOTH}).* and '(?:builtin_function_or_method|type)'"
    "|must have at least two arguments|expected 2 arguments"
)
"""What Python says of `xs | sum`, `xs | map(f)` and `xs | filter(f)`; not where the user has a number of that name."""


def _ask_of_pipes(error: NameError | TypeError, text: str, ran: Span) -> bool:
    """Note the operator before the stage's name that Python ran there, which may be meant as `|>`; False if none is."""
    written = lines_of(text)[ran.line - 1]
    found = _operator(error, written, ran)
    if found is None:
        return False
    error.add_note(f"hastega: a pipeline is written with `|>`: did you mean `|> {found[2]}`?")
    start, end = found.span(1)
    error.add_note(marked(text, Span(ran.line, start, ran.line, end), end - start))
    return True


def _operator(error: NameError | TypeError, written: str, ran: Span) -> re.Match[str] | None:
    """The operator and the stage's name behind it; None where something else may be meant."""
    said = str(error)
    if isinstance(error, TypeError) and not _REFUSED.search(said):
        # Of `_` perhaps, which outside stages is IPython's last value.
        found = _AROUND.search(written[: ran.col]) if _ELEMENT.search(written, ran.col, ran.end_col) else None
        return found if found and found[2] in STAGES and STAGES[found[2]].functions else None
    if re.match(_BOTH, said):
        found = _AT_END.search(written[: ran.end_col], ran.col)
    else:
        found = next((each for each in _NEARLY.finditer(written) if each.start(2) == ran.col), None)
        if isinstance(error, NameError) and found and found[1] != "|":  # `n > count` may lack a variable
            return None
    return found if found and found[2] in STAGES else None


_OPERATOR = r"((?<!\|)\||(?<![|>=-])>>?)\s*"
"""What stands for a pipe elsewhere; not the end of another operator."""
_NEARLY = re.compile(_OPERATOR + r"(\w+)")
_AT_END = re.compile(_NEARLY.pattern + "$")
_AROUND = re.compile(_NEARLY.pattern + r"\((?:[^()]|\([^()]*\))*$")
"""Such an operator, a name, and the beginning of its arguments."""
_ELEMENT = re.compile(r"\b_\b")


def ran_text(text: str, ran: Span) -> str:
    """What stands at a place in one line of the text."""
    return lines_of(text)[ran.line - 1][ran.col : ran.end_col]


def _read_at(error: NameError, text: str, filename: str) -> Span | None:
    """Where the text reads the name, as the innermost frame has it; None where that is another text's."""
    place = _ran_at(error, text, filename)
    if place is None or lines_of(text)[place.line - 1][place.col : place.end_col] != error.name:
        return None
    return place


def _ran_at(error: Exception, text: str, filename: str) -> Span | None:
    """What the innermost frame ran, where it stands in one line of the text."""
    *_, last = [None, *links(error.__traceback__)]
    if last is None or last.tb_frame.f_code.co_filename != filename:
        return None
    positions = itertools.islice(last.tb_frame.f_code.co_positions(), last.tb_lasti // 2, None)
    line, end_line, *ends = next(positions, (None,) * 4)
    lines = lines_of(text)
    if line is None or line != end_line or not 0 < line <= len(lines) or None in ends:
        return None
    written = lines[line - 1].encode()  # Python counts bytes
    start, end = (len(written[:each].decode(errors="replace")) for each in ends)
    return Span(line, start, line, end)


def _mark_only(
    error: NameError | AttributeError, text: str, word: re.Pattern[str], sites: Iterable[Site]
) -> None:
    """Note where a word stands that the text has once, in a pipeline."""
    places = [
        (number, found) for number, line in enumerate(lines_of(text), 1) for found in word.finditer(line)
    ]
    if len(places) != 1:
        return
    [(number, found)] = places
    if any(site.span.line <= number <= site.span.end_line for site in sites):
        error.add_note(marked(text, Span(number, found.start(), number, found.end()), len(found[0])))


def _mark(error: NameError, text: str, stage: StageSite, name: str) -> None:
    """Note where the name stands in the stage's first line, or the stage."""
    first = stage.text.partition("\n")[0]
    found = re.search(rf"\b{re.escape(name)}\b", first)
    span = stage.span._replace(col=stage.span.col + found.start()) if found else stage.span
    if lines := marked(text, span, len(name) if found else len(first)):
        error.add_note(lines)


def marked(text: str, span: Span, width: int) -> str:
    """The line in which a stretch of the text begins, and a caret under so many characters; "" if there is none."""
    lines = lines_of(text)
    if not 0 < span.line <= len(lines):
        return ""
    line = lines[span.line - 1]
    end = span.col + width
    before = "".join("\t" if each == "\t" else " " * _columns(each) for each in line[: span.col])
    return f"    {line}\n    {before}{'^' * (sum(map(_columns, line[span.col : end])) + max(0, end - len(line)))}"


def _columns(character: str) -> int:
    """How many columns of a screen it takes; of a tab nobody knows."""
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _has_part(pipeline: str, name: str) -> bool:
    """Whether the text reads an attribute of this name."""
    return re.search(rf"(?<![\w.]){re.escape(name)}\.", pipeline) is not None


def _is_function_over(stage: str, name: str) -> bool:
    """Whether the stage's function is written as an expression over this name."""
    try:
        [statement] = parse(stage).body
    except (CellSyntaxError, ValueError):
        return False
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in STAGES:
        return False
    given = function_arguments(STAGES[call.func.id], call)
    plain = [each for each in given if not isinstance(each, (ast.Name, ast.Lambda))]
    return any(name in reads(each) and "_" not in reads(each) for each in plain)


__all__ = ["hint", "marked", "ran_text"]
