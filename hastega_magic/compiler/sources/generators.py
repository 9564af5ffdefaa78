"""Generator expressions as sources: what they compute becomes stages over the sequence that they go through.

    (x * x for x in range(n) if x % 3) |> sum        range(n) |> filter(x % 3) |> map(x * x) |> sum

That a generator was asked for elements can be told by what it reads and does alone, and compiled functions do nothing.
Its own loop variable, conditions and variables around are in its code and frame; the frame has not begun.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Generator, Iterator, Sequence
from functools import lru_cache
from types import CodeType, FunctionType, GeneratorType
from typing import Any, NamedTuple, cast

from hastega_magic.compiler.sources.pairs import Pairs, asks_for_all, ends_of, sequence_of
from hastega_magic.compiler.statement import Bound
from hastega_magic.errors import Span
from hastega_magic.syntax.closures.numpy_read import numpy_read
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.ordinary.rewriting import NoPipeline, function, function_of, placed, target_shape
from hastega_magic.syntax.reading.functions import adopt
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.site import StageSite

_LEAST = 1 << 19
"""Elements from which on it is worth a compilation, also where what the expression reads is another in each run."""


class _Part(NamedTuple):
    """A condition, or what is given for each element: `make` gives its function for the variables around it."""

    stage: StageSite
    make: CodeType


def generator_of(source: Iterator[object], bound: Bound, rest: Sequence[BoundStage]) -> Pairs | None:
    """What stands for a generator expression that is written as the source; None for other iterators."""
    node = bound.site.source
    if not isinstance(source, GeneratorType) or not isinstance(node, ast.GeneratorExp):
        return None
    generator: Generator[object, Any, Any] = cast(Any, source)
    code, frame = cast("tuple[CodeType, Any]", (source.gi_code, source.gi_frame))
    begun = inspect.getgeneratorstate(generator) != inspect.GEN_CREATED
    if begun or code.co_name != "<genexpr>" or not asks_for_all(rest) or len(rest) < len(bound.stages):
        return None
    known: dict[str, Any] = frame.f_locals
    over = known.get(".0")
    if type(over) in (range, list, tuple):  # since Python 3.15; before, what goes through it
        over = iter(cast("Sequence[object]", over))
    found = sequence_of(over)
    if found is None or found.scalars or found.left < _LEAST:
        return None  # of an array it computes with NumPy's scalars
    parts = _parts(node, code.co_filename, code.co_freevars)
    if parts is None or not all(name in known for name in code.co_freevars):
        return None
    around = [known[name] for name in code.co_freevars]
    functions = [cast(FunctionType, eval(part.make, frame.f_globals)(*around)) for part in parts]
    if numpy_read([*functions, *(each for stage in rest for each in stage.args)]):
        return None
    stages = [
        BoundStage(part.stage, None, (function,)) for part, function in zip(parts, functions, strict=True)
    ]
    ends = ends_of((found,))
    return Pairs(found.rest, (*stages, *rest), None, ends, listed=False, generator=generator)


@lru_cache(maxsize=64)
def _parts(node: ast.GeneratorExp, filename: str, around: tuple[str, ...]) -> tuple[_Part, ...] | None:
    """The parts of an expression as stages; None where it is more than one loop over names."""
    places = Text("".join(linecache.getlines(filename)))
    first, *others = node.generators
    assigns = any(isinstance(each, (ast.NamedExpr, ast.Await, ast.Yield)) for each in ast.walk(node))
    if others or first.is_async or assigns or any(map(_private, ast.walk(node))):
        return None
    try:
        shape = target_shape(first.target)
    except NoPipeline:
        return None
    if isinstance(shape, tuple) and len(shape) == 1:
        return None  # a stage's function is given the element, not its one part
    bodies = [("filter", each) for each in first.ifs]
    if not (isinstance(node.elt, ast.Name) and node.elt.id == shape):
        bodies.append(("map", node.elt))
    found: list[_Part] = []
    for name, body in bodies:
        of_element = function_of(shape, body)
        outer = ast.Expression(placed(function(around, of_element), body))
        made = compile(outer, filename, "eval", dont_inherit=True)
        adopt(_innermost(made), of_element, filename, places)
        span: Span = places.span(body)
        found.append(_Part(StageSite(name, places.cut(span), span, known=True), made))
    return tuple(found)


def _private(node: ast.AST) -> bool:
    """Whether it has a name that is another one in a class."""
    names = (getattr(node, each, None) for each in ("id", "attr", "arg"))
    return any(isinstance(each, str) and each[:2] == "__" != each[-2:] for each in names)


def _innermost(code: CodeType) -> CodeType:
    """The code of the function that a function of an expression gives."""
    for _ in range(2):
        (code,) = (each for each in code.co_consts if isinstance(each, CodeType))
    return code


__all__ = ["generator_of"]
