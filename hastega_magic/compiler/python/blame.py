"""Which stage an error came from: its line of the cell with a caret, and the nearest form that works.

    TypeError: 'int' object is not iterable
    hastega: to put one value beside each element, write `map(lambda x: (x, ...))`
        y = xs |> zip(5)
                  ^^^^^^

Looked for when the error is there, and said only where no other stage can have raised it.
"""

from __future__ import annotations

import itertools
import re
import traceback
from pathlib import Path
from types import FunctionType

from hastega_magic.compiler.python.naming import BEYOND, named, placed
from hastega_magic.compiler.python.refused import may_have_refused, of_names, of_none, once
from hastega_magic.compiler.python.wrong_arguments import is_sequence, wrong
from hastega_magic.compiler.statement import Bound
from hastega_magic.errors import NOWHERE, PACKAGE, HastegaError, Span, StrictError
from hastega_magic.frames import reraise_signal
from hastega_magic.report.escape import quoted
from hastega_magic.runtime import python
from hastega_magic.runtime.buffers import is_no_room
from hastega_magic.runtime.columnar import NullsError
from hastega_magic.runtime.python_calls import THROUGH
from hastega_magic.syntax.hints import marked
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.site import StageSite
from hastega_magic.syntax.stages import STAGES

_LIBRARY = frozenset({"collections", "functools", "itertools", "operator", "statistics"})


def point(error: BaseException, bound: Bound, text: str) -> None:
    """Add to what a pipeline of the cell raised the line of its stage with a caret, and a sentence where one is known.

    Nothing where it is not clear which stage it was, and for what is no pipeline's.
    """
    if isinstance(error, TypeError):
        for doubt in bound.site.doubts:
            error.add_note(f"hastega: {doubt.sentence}")
    found = _found(error, bound)
    if found is None:
        return
    span, length, sentence = found
    if sentence:
        error.add_note(f"hastega: {sentence}")
    if lines := marked(text, span, length):
        error.add_note(lines)


def add_sentence(error: BaseException, bound: Bound) -> None:
    """The sentence alone, for a pipeline written with dots, which stands in no text of ours."""
    found = _found(error, bound)
    if found is not None and found[2]:
        error.add_note("hastega: " + _CODE.sub(lambda code: _with_dots(code[0]), found[2]))


def _with_dots(code: str) -> str:
    stages = code[1:-1].split(" |> ")
    if len(stages) == 1:
        return code
    return f"`{'.'.join(each if '(' in each else f'{each}()' for each in stages)}`"


_CODE = re.compile("`[^`]*`")


_Found = tuple[Span, int, str]
"""Where it stands, how many characters are marked, and what is said of it."""


_UNCLEAR: _Found = NOWHERE, 0, ""


def _found(error: BaseException, bound: Bound) -> _Found | None:
    """Which stage it was, as far as that is clear."""
    if not isinstance(error, Exception) or (
        isinstance(error, HastegaError) and type(error) not in (StrictError, NullsError)
    ):
        return None
    try:  # objects of the user's are asked for what they are, and may raise
        found = next(filter(None, (each(error, bound) for each in _WAYS)), None)
    except Exception as raised:
        reraise_signal(raised)
        return None
    return None if found is _UNCLEAR else found


_BEYOND = re.compile(
    r"(?:`(?P<name>.*)` (?:leaves|holds integers beyond)|the constant (?P<constant>\S+) does not fit in) 64 bits$",
    re.DOTALL,
)
"""What is said of integers that int64 does not hold before any stage goes over them."""


def _site(stage: StageSite, sentence: str = "") -> _Found:
    return stage.span, max(1, len(stage.text.partition("\n")[0])), sentence


def _at(stage: BoundStage, sentence: str = "") -> _Found:
    return _site(stage.site, sentence)


def _source(bound: Bound) -> _Found:
    return bound.site.source_span, len(bound.site.source_text.partition("\n")[0]), ""


def _told(error: Exception, bound: Bound) -> _Found | None:
    """The stage or the source that the error names, or a note of ours; `_UNCLEAR` where it may be one of several."""
    said, stages = str(error), bound.site.stages
    if isinstance(error, NullsError):
        return _missing(said, bound)
    if isinstance(error, OverflowError) and (found := _BEYOND.match(said)):
        return _beyond_int64(found, bound)
    if is_no_room(error):
        return _source(bound)
    notes = "\n".join(getattr(error, "__notes__", ()))
    strict, beyond = isinstance(error, StrictError), isinstance(error, OverflowError)
    found = [
        stage
        for stage in stages
        if (strict and said.startswith(f"{quoted(stage.text)} is not compiled"))
        or (beyond and said.startswith(f"{BEYOND}{named(stage.text, stage.span, stages)}: "))
        or f"in {placed(stage.text, stage.span, stages)}" in notes
        or f"in {quoted(stage.text)} (cell line {stage.span.line})" in notes
    ]
    if not found:
        return None
    return _site(found[0], of_names(found[0], error, bound)) if len(found) == 1 else _UNCLEAR


def _missing(said: str, bound: Bound) -> _Found:
    """What has the missing elements: the source, or the one stage that is given others."""
    if any(said.startswith(f"`{name}` ") for name in (bound.site.source_name, bound.site.source_text)):
        return _source(bound)
    beside = [stage.site for stage in bound.stages if stage.site.name in ("zip", "dot")]
    return _site(beside[0]) if len(beside) == 1 and not said.startswith("`") else _UNCLEAR


def _beyond_int64(said: re.Match[str], bound: Bound) -> _Found:
    """What holds the integers: the source, the one stage that is given it, or has it in its text."""
    if said["constant"]:
        found = [stage.site for stage in bound.stages if said["constant"] in stage.site.text]
    elif said["name"] in (bound.site.source_name, bound.site.source_text):
        return _source(bound)
    else:  # what is zipped has no name but its type's
        found = [
            stage.site
            for stage in bound.stages
            if stage.site.name in ("zip", "dot")
            and said["name"] in (type(each).__name__ for each in stage.args)
        ]
    return _site(found[0]) if len(found) == 1 else _UNCLEAR


def _frames(error: Exception) -> list[str]:
    """The files of the error's frames from the first of this package on; those of a library that it calls left out."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    files = [
        Path(frame.f_code.co_filename).as_posix()
        for frame in frames
        if frame.f_globals.get("__name__", "") not in _LIBRARY
    ]
    first = next((number for number, file in enumerate(files) if file.startswith(PACKAGE)), len(files))
    return files[first:]


def _given(error: Exception, bound: Bound) -> _Found | None:
    """A stage that was given what it does not take."""
    files = _frames(error)
    if not files or not files[-1].startswith(PACKAGE):
        return None
    for stage in bound.stages:
        if stage.callee is None and stage.site.name in STAGES:
            try:
                given = STAGES[stage.site.name].bind(stage.args, stage.kwargs)
            except TypeError:
                return _at(stage)
            sentence = wrong(stage, given, error)
            if sentence is not None:
                return _at(stage, sentence)
    source = bound.source  # None, where it is the result of a statement that has not run yet
    if bound.stages and not is_sequence(source):
        name = type(source).__name__  # Python puts the module before some
        asked = f"'{name}' object is not iter", f".{name}' object is not iter", "iteration over a 0-d array"
        if any(each in str(error) for each in asked):
            return _source(bound)
    return _behind_a_value(error, bound)


def _behind_a_value(error: Exception, bound: Bound) -> _Found | None:
    """The only stage that goes through what a stage before it has made one value of."""
    if not any(THROUGH in note for note in getattr(error, "__notes__", ())):
        return None
    found = [
        stage
        for before, stage in itertools.pairwise(bound.stages)
        if stage.callee is None and (before.callee is not None or STAGES[before.site.name].sink)
    ]
    return _at(found[0]) if len(found) == 1 else None


_QUIET = frozenset(
    {"zip", "enumerate", "take", "drop", "step", "window", "chunk", "reverse", "count", "to_list"}
)
"""Stages that raise for nothing but their arguments."""


def _at_once(error: Exception, bound: Bound) -> _Found | None:
    """The only callable that may have refused all elements at once."""
    found = [stage for stage in bound.stages if may_have_refused(stage, error)]
    sentence = once(found[0], error) if len(found) == 1 else ""
    return _at(found[0], sentence) if sentence else None


def _alone(error: Exception, bound: Bound) -> _Found | None:
    """The only stage that can have raised what no function of the user's did."""
    files = _frames(error)
    if not files or not files[-1].startswith(PACKAGE):
        return None
    stages = [stage for stage in bound.stages if _may_raise(stage)]
    if len(stages) != 1:
        return None
    before = bound.stages[: bound.stages.index(stages[0])]
    first = stages[0]
    about = (
        once(first, error) or _about(first.site.name, error) or of_none(first, before, error, bound.source)
    )
    return _at(first, about or of_names(first.site, error, bound))


def _may_raise(stage: BoundStage) -> bool:
    """Whether the stage itself may raise: a function of the user's has frames of its own, or is named in a note."""
    if stage.callee is not None:
        return not isinstance(stage.callee, FunctionType)
    if stage.site.name in _QUIET:
        return False
    row = STAGES.get(stage.site.name)
    if row is None or not row.functions or row.sink:
        return True
    return not all(
        isinstance(stage.args[place], FunctionType) for place in row.functions if place < len(stage.args)
    )


def _about(name: str, error: Exception) -> str:
    """What helps with elements that the stage cannot take, or with none."""
    said = str(error)
    if ("empty" in said or "no elements" in said) and name in ("min", "max", "first", "last"):
        return f"for a value where there are no elements, write `{name}(default=...)`"
    if "empty" in said and name == "reduce":
        return "for a value where there are no elements, give it a start: `reduce(f, init)`"
    if not isinstance(error, TypeError):
        return ""
    if "'tuple'" in said:
        return f"the elements are tuples: make each a number with `map(lambda a, b: ...)` before `{name}`"
    if "'complex'" in said and name in ("min", "max", "argmin", "argmax", "clip"):
        return f"complex numbers have no order: `map(abs) |> {name}` compares their sizes"
    if name == "bincount":
        return "it counts whole numbers: write `map(int) |> bincount`"
    return ""


def _tapped(error: Exception, bound: Bound) -> _Found | None:
    """A `tap` whose function raised, and what it is given, where that is what it took for something else."""
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    taps = [stage for stage in bound.site.stages if stage.name == "tap"]
    if len(taps) > 1:  # functions are known in the first run alone
        given = [
            (stage.site, stage.args[0]) for stage in bound.stages if stage.site.name == "tap" and stage.args
        ]
        taps = [site for site, function in given if getattr(function, "__code__", None) in frames]
    if len(taps) != 1 or python.tap.__code__ not in frames[:-1]:  # it called something of Python's
        return None
    mistaken = isinstance(error, (TypeError, AttributeError))
    whole = "`tap` gives its function the whole value, not each element: `map` calls one for each"
    return _site(taps[0], whole if mistaken else "")


_WAYS = _told, _tapped, _given, _at_once, _alone
"""How the stage is found, in order."""

__all__ = ["add_sentence", "point"]
