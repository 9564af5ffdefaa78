"""The explicit lazy form: a pipeline as an object with a method for each stage, in any Python file.

    pipe(range(10)).map(lambda x: x * x).filter(lambda x: x % 2 == 0).sum()

Methods come from the table of stages, so that a new row is a new method. Stages make another pipe, sinks run it.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hastega_magic.compiler.backends import require
from hastega_magic.compiler.fastpath.hooks import PIPES
from hastega_magic.compiler.fastpath.repeated import Form, Repeated
from hastega_magic.compiler.options import Options, options_of
from hastega_magic.compiler.python.naming import BEYOND
from hastega_magic.errors import NotCompilable, Span
from hastega_magic.frames import leaving
from hastega_magic.report import Report, build_report
from hastega_magic.syntax.reading.functions import ast_of, name_of
from hastega_magic.syntax.site import Site, StageSite, new_site_id
from hastega_magic.syntax.stages import STAGES, Stage, suggest
from hastega_magic.trace import Trace

_numbers = itertools.count(1)
_LONGEST = 60
"""Characters of a function's text that are shown as it is written; a longer one by its name."""

_PLACE = re.compile(r" \(cell line (\d+)(?:, column \d+)?\)")

_Display = tuple[Any, tuple[Any, ...], Mapping[str, Any]]
_AS_IT_IS: _Display = (None, (0,), {})
"""`drop(0)`, for a pipe without stages: its elements become an array by the same rules as those of any other."""


class Pipe:
    """Elements of a source, and what is to be done with them; nothing runs before a sink, or before it is looked at.

    Iterating over it, `numpy.asarray`, `run()` and `to_array()` run it; so do all methods of sinks, which give their
    value. A pipe can be run again, and reads its source anew each time.
    """

    __slots__ = ("_form", "_last", "_lines", "_options", "_source", "_stages", "_turns")

    def __init__(self, source: object, options: Options) -> None:
        """`source` as pipelines take it: a range, a list, an array, ..."""
        self._source = source
        self._options = options
        self._stages: tuple[_Display, ...] = ()
        self._lines: tuple[tuple[str, str, bool], ...] = ()
        self._turns: dict[str, Repeated] = {}
        self._last: Repeated | None = None
        self._form: Form | None = None

    # What runs it

    @leaving
    def run(self) -> Any:
        """The elements as a NumPy array; of a pipe that has called something else, whatever that gave."""
        return self._run("", (), {})

    @leaving
    def to_array(self) -> Any:
        """The same as `run`, always as an array: `numpy.asarray` of it."""
        return np.asarray(self._run("", (), {}))

    @leaving
    def __iter__(self) -> Iterator[Any]:
        """The elements as Python's numbers."""
        found = self._run("", (), {})
        return iter(found.tolist() if hasattr(found, "tolist") else found)

    @leaving
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """What `numpy.asarray(pipe)` gives."""
        if copy is False:
            raise ValueError("a pipe has no array before it runs, so that there is none to share")
        return np.asarray(self._run("", (), {}), dtype=dtype)

    def apply(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Pipe:
        """Any other callable, called by Python on the value so far: `function(value, *args, **kwargs)`."""
        text = f"apply({', '.join([name_of(function), *map(_told, args), *_named(kwargs)])})"
        return self._with(name_of(function), text, (function, args, kwargs))

    @leaving
    def explain(self) -> Report:
        """The report of its last run, which it runs for if there was none: `print(pipe.explain().to_text())`.

        It tells what was fused, what was compiled, and why what was not.
        """
        if self._last is None:
            self._run("", (), {})
        text = self._last.site.text if self._last is not None else f"pipe({_told(self._source)})"
        trace = Trace()
        trace.add("cell", source=text, options=self._options.to_dict())
        if self._last is not None and self._form is not None:
            self._last.tell_of(self._form, text, trace)
        return build_report(trace)

    # Its parts

    def _with(self, name: str, text: str, display: _Display) -> Pipe:
        found = Pipe(self._source, self._options)
        found._stages = (*self._stages, display)
        found._lines = (*self._lines, (name, text, display[0] is None))
        return found

    def _run(self, sink: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Run it, with a sink behind its stages ("": none)."""
        displays = (*self._stages, (None, args, kwargs)) if sink else self._stages or (_AS_IT_IS,)
        key = f"{sink}({', '.join([*map(_told, args), *_named(kwargs)])})" if args or kwargs else sink
        turns = self._turns.get(key)
        if turns is None:
            lines = (*self._lines, (sink, key, True)) if sink else self._lines or (("drop", "drop(0)", True),)
            turns = self._turns[key] = _turns_at(self._source, lines, self._options)
        self._last = turns
        try:
            found = turns.run(self._source, displays)
            self._form = turns.form
            return found
        except BaseException as error:
            if isinstance(error, Exception):
                turns.advise(error, self._source, displays)
            # There is no cell that lines could be counted in.
            notes: list[str] = getattr(error, "__notes__", [])
            notes[:] = [_PLACE.sub("", note) for note in notes]
            if isinstance(error, OverflowError) and error.args and str(error.args[0]).startswith(BEYOND):
                error.args = (_PLACE.sub(_stage_of, error.args[0]), *error.args[1:])
            raise

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """What a copy of it has, also in another process: all but what was compiled."""
        left: dict[str, Any] = {"_turns": {}, "_last": None, "_form": None}
        return None, {name: getattr(self, name) for name in self.__slots__} | left

    def __repr__(self) -> str:
        return ".".join([f"pipe({_told(self._source)})", *(text for _, text, _ in self._lines)])

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *STAGES})

    if not TYPE_CHECKING:

        @leaving
        def __getattr__(self, name: str) -> Any:
            from hastega_magic.syntax.foreign_names import written_here

            form = written_here(name) or ""
            stage = form.partition("(")[0].partition(" ")[0] in STAGES
            near = form.replace(" |> ", ".") if stage else suggest(name, _OTHERS)
            hint = f": did you mean {near}?" if near else ""
            raise AttributeError(f"a pipe has no stage {name!r}{hint}", name=name, obj=None)

    else:
        # Its methods are the rows of the table of stages.
        def __getattr__(self, name: str) -> Callable[..., Any]: ...


_OTHERS = ("apply", "explain", "run", "to_array")
"""What a pipe has beside stages."""


def pipe(source: object, /, **options: Any) -> Pipe:
    """A pipeline over the elements of `source`, to be given stages and run.

    Options are those of `%%hastega`, as keywords: `pipe(xs, on="simd", int_mode="checked", threads=2)`. TypeError for
    an option that does not exist, UsageError for a value that one cannot have.
    """
    chosen = options_of("pipe()", options)
    require(chosen)
    return Pipe(source, chosen)


def _method(row: Stage) -> Callable[..., Any]:
    @leaving
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        row.bind(args, kwargs)  # TypeError, in a sentence, where they do not fit
        if row.sink:
            return self._run(row.name, args, kwargs)
        text = ", ".join([*map(_told, args), *_named(kwargs)])
        return self._with(row.name, f"{row.name}({text})" if text else row.name, (None, args, kwargs))

    method.__name__, method.__qualname__ = row.name, f"Pipe.{row.name}"
    method.__doc__ = f"{row.doc[:1].upper()}{row.doc[1:]}: `{row.usage}`."
    kind = inspect.Parameter
    listed = [kind("self", kind.POSITIONAL_ONLY)]
    for number, name in enumerate(row.parameters):
        default = kind.empty if number < row.required else ...
        listed.append(kind(name, kind.POSITIONAL_OR_KEYWORD, default=default))
    if row.variadic:
        listed.append(kind("more", kind.VAR_POSITIONAL))
    listed += [kind(name, kind.KEYWORD_ONLY, default=...) for name in row.keywords]
    cast(Any, method).__signature__ = inspect.Signature(listed)
    return method


for _row in STAGES.values():
    setattr(Pipe, _row.name, _method(_row))


def _site(value: object, lines: tuple[tuple[str, str, bool], ...]) -> Site:
    """A site as if the pipe over the value had been written with a stage on each line."""
    stages: list[StageSite] = []
    for number, (name, text, known) in enumerate(lines, 2):
        # A text of several lines stands on one here.
        shown = " ".join(text.split())
        stages.append(StageSite(name, shown, Span(number, 5, number, 5 + len(shown)), known))
    last = stages[-1].span
    whole = Span(1, 0, last.end_line, last.end_col)
    told = _told(value)
    text = "\n".join([f"pipe({told})", *(f"    .{stage.text}" for stage in stages)])
    name = f"the {type(value).__name__}" if told.startswith("<") else told
    source = Span(1, 5, 1, 5 + len(told))
    return Site(
        new_site_id(), text, whole, told, tuple(stages), name, ast.Name("xs", ast.Load()), None, source
    )


def _stage_of(place: re.Match[str]) -> str:
    """One of several stages of the same text; the first stands on the second line of the site's text."""
    return f" (stage {int(place[1]) - 1})"


def _told(value: object) -> str:
    """An argument as the report shows it: a function's own text where it is short, a number, a type."""
    if callable(value):
        try:
            text = ast_of(value).text
        except NotCompilable:
            return name_of(value)
        one_line = " ".join(text.split())
        return one_line if text.startswith("lambda") and len(one_line) <= _LONGEST else name_of(value)
    if isinstance(value, (int, float, complex, str, range, type(None))):
        text = repr(value)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    return f"<{type(value).__name__}>"


def _named(kwargs: Mapping[str, Any]) -> list[str]:
    return [f"{name}={_told(value)}" for name, value in kwargs.items()]


def _filename() -> str:
    return f"<pipe {next(_numbers)}>"


_ROUND, _LONG = 64, 10.0
"""After so many runs of pipes those that have not run for so many seconds let go of the user's data."""

_asked = itertools.count(1)


_BETWEEN = frozenset({__file__, leaving.__code__.co_filename})
"""Where the code stands that runs between the user's line and what looks for it."""


def _turns_at(source: object, lines: tuple[tuple[str, str, bool], ...], options: Options) -> Repeated:
    """The runs of a pipe that is made and run here: those of the last one made here, as in the body of a loop."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename in _BETWEEN:
        frame = frame.f_back
    if frame is None:
        return Repeated(_site(source, lines), options, _filename(), ("<pipe>", 1))
    key = frame.f_code, frame.f_code.co_filename, frame.f_lasti, _told(source), lines, options
    found = PIPES.get(key)
    if found is None:
        place = frame.f_code.co_filename, frame.f_lineno
        found = PIPES.put(key, Repeated(_site(source, lines), options, _filename(), place))
    if next(_asked) % _ROUND == 0:
        since = time.perf_counter() - _LONG
        for each in PIPES.values():
            if each.began < since:
                each.let_go()
    return found


__all__ = ["Pipe", "pipe"]
