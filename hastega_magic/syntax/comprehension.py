"""Ordinary code that is a pipeline: comprehensions, and calls that consume a generator, a `map` or a `filter`.

    [f(x) for x in xs if p(x)]     xs |> filter(lambda x: p(x)) |> map(lambda x: f(x)) |> to_list
    sum(x * y for x, y in zip(xs, ys))     xs |> zip(ys) |> map(lambda x, y: x * y) |> sum

It is replaced by a call that is handed the callees as Python finds them, the functions, what is iterated over, and the
code itself as a function of these, for Python to run where the pipeline cannot be compiled:

    TRY(7, (sum, zip), (lambda x, y: x * y,), (xs, ys), lambda c, f, o: c[0](x * y for x, y in c[1](*o)))
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hastega_magic.errors import Span
from hastega_magic.syntax.rewriting import (
    NoPipeline,
    Shape,
    call,
    function,
    function_of,
    item,
    names_of,
    placed,
    target_shape,
)  # fmt: skip
from hastega_magic.syntax.site import Site, StageSite, new_site_id
from hastega_magic.syntax.text import Text

TRY = "__hastega_try__"
"""The name that the rewritten code calls."""

_CALLEES, _FUNCTIONS, _OPERANDS = "__hastega_callees__", "__hastega_functions__", "__hastega_operands__"


@dataclass(frozen=True)
class _Consumer:
    """A function that takes an iterable: the callable itself, the stages it is, what becomes of their value."""

    callee: object
    sink: str
    after: Callable[[Any], Any] | None = None
    eager: bool = True
    """It takes all elements, so that a list made for it is as good as a generator."""
    generator: bool = True
    """It takes generators; `len` does not."""

    @property
    def reduces(self) -> bool:
        """Whether it computes one value of all elements, so that there is something to gain without a function."""
        return self.sink in ("sum", "min", "max", "prod", "reduce")


_CONSUMERS: Mapping[str, _Consumer] = {
    "sum": _Consumer(sum, "sum"),
    "min": _Consumer(min, "min"),
    "max": _Consumer(max, "max"),
    "any": _Consumer(any, "any", eager=False),
    "all": _Consumer(all, "all", eager=False),
    "list": _Consumer(list, "to_list"),
    "tuple": _Consumer(tuple, "to_list", tuple),
    "set": _Consumer(set, "to_list", set),
    "frozenset": _Consumer(frozenset, "to_list", frozenset),
    "sorted": _Consumer(sorted, "to_list", sorted),
    "len": _Consumer(len, "count", generator=False),
    "prod": _Consumer(math.prod, "prod"),
    "reduce": _Consumer(functools.reduce, "reduce"),
}
_SEEN = "hastega_seen"
"""An attribute of comprehensions that have been made a part of a pipeline: there is nothing more to be made of them."""

_MODULES = frozenset({"math", "functools", "builtins"})
_NOT_NUMBERS = (
    ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Await, ast.Yield, ast.YieldFrom,
    ast.NamedExpr, ast.JoinedStr, ast.List, ast.Dict, ast.Set, ast.Starred,
)  # fmt: skip
_READS_THE_FRAME = frozenset({"locals", "vars", "dir", "eval", "exec", "super", "globals"})


@dataclass(frozen=True)
class Step:
    """A stage: its name, and where its arguments are: ("function", n) or ("operand", n)."""

    stage: str
    arguments: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Ordinary:
    """A piece of ordinary code as a pipeline.

    site       its text, span and stages
    expected   the callables that it must be about, for the pipeline to be what it means
    steps      the stages, with their arguments by place
    made       functions that stand for expressions of it, by place; the others are the user's own
    after      what becomes of the pipeline's value (None: it is the result)
    sources    how many of the operands are iterated over
    """

    site: Site
    expected: tuple[object, ...]
    steps: tuple[Step, ...]
    made: Mapping[int, ast.Lambda] = field(default_factory=dict[int, ast.Lambda], compare=False)
    after: Callable[[Any], Any] | None = None
    sources: tuple[int, ...] = (0,)


@dataclass
class _Parts:
    """What has been found so far; the lists become the arguments of the call."""

    text: Text
    callees: list[ast.expr] = field(default_factory=list[ast.expr])
    expected: list[object] = field(default_factory=list[object])
    functions: list[ast.expr] = field(default_factory=list[ast.expr])
    operands: list[ast.expr] = field(default_factory=list[ast.expr])
    made: dict[int, ast.Lambda] = field(default_factory=dict[int, ast.Lambda])
    steps: list[Step] = field(default_factory=list[Step])
    places: list[tuple[str, Span]] = field(default_factory=list[tuple[str, Span]])
    sources: list[int] = field(default_factory=list[int])

    def callee(self, node: ast.expr, expected: object) -> ast.expr:
        """Code for a callee."""
        self.callees.append(node)
        self.expected.append(expected)
        return item(_CALLEES, len(self.callees) - 1, node)

    def function(self, node: ast.expr, made: bool) -> tuple[int, ast.expr]:
        """Place of a function, and code for it."""
        self.functions.append(node)
        number = len(self.functions) - 1
        if made:
            self.made[number] = cast(ast.Lambda, node)
        return number, item(_FUNCTIONS, number, node)

    def operand(self, node: ast.expr, source: bool = True) -> tuple[int, ast.expr]:
        """Place of an operand, and code for it."""
        self.operands.append(node)
        number = len(self.operands) - 1
        if source:
            self.sources.append(number)
        return number, item(_OPERANDS, number, node)

    def step(self, stage: str, place: ast.AST, *arguments: tuple[str, int], text: str | None = None) -> None:
        """Another stage, written at a place."""
        self.steps.append(Step(stage, arguments))
        span = self.text.span(place)
        shown = self.text.cut(span) if text is None else text
        self.places.append((f"{stage}({shown})" if shown else stage, span))


def recognised(
    node: ast.expr, text: Text, visit: Callable[[ast.expr], Any], inside: Callable[[ast.expr], Any]
) -> tuple[Ordinary, ast.expr] | None:
    """The code as a pipeline, and the call that stands for it; None if it is none.

    `visit` rewrites an expression, `inside` what stands in it: the code that Python runs where the pipeline cannot be
    compiled is rewritten too.
    """
    if getattr(node, _SEEN, False):
        return None
    parts = _Parts(text)
    try:
        fallback, after = _whole(node, parts)
    except NoPipeline:
        return None
    stages = tuple(
        StageSite(step.stage, shown, span, known=True)
        for step, (shown, span) in zip(parts.steps, parts.places, strict=True)
    )
    source = parts.operands[0]
    span, source_span = text.span(node), text.span(source)
    name = source.id if isinstance(source, ast.Name) else None
    site = Site(
        new_site_id(), text.cut(span), span, text.cut(source_span), stages, name, source, None, source_span
    )
    found = Ordinary(site, tuple(parts.expected), tuple(parts.steps), parts.made, after, tuple(parts.sources))
    arguments: list[ast.expr] = [
        ast.Constant(site.id),
        ast.Tuple(parts.callees, ast.Load()),
        ast.Tuple([each if number in parts.made else visit(each) for number, each in enumerate(parts.functions)],
                  ast.Load()),
        ast.Tuple([visit(each) for each in parts.operands], ast.Load()),
        function([_CALLEES, _FUNCTIONS, _OPERANDS], inside(fallback)),
    ]  # fmt: skip
    call = ast.Call(ast.Name(TRY, ast.Load()), arguments, [])
    return found, placed(call, node)


def _whole(node: ast.expr, parts: _Parts) -> tuple[ast.expr, Callable[[Any], Any] | None]:
    """The code as a function of its parts, and what becomes of the pipeline's value."""
    match node:
        case ast.ListComp() | ast.SetComp():
            inner = _comprehension(node, parts)
            parts.step("to_list", node, text="")
            return inner, set if isinstance(node, ast.SetComp) else None
        case ast.Call(func=callee, args=[*args], keywords=[]):
            consumer = _consumer(callee)
            code = parts.callee(callee, consumer.callee)
            if consumer.sink == "reduce":
                return _reduction(node, code, parts), None
            if len(args) != 1:
                raise NoPipeline
            inner = _iterable(args[0], parts, consumer)
            parts.step(consumer.sink, callee, text="")
            return call(code, [inner], node), consumer.after
        case _:
            raise NoPipeline


def _consumer(callee: ast.expr) -> _Consumer:
    match callee:
        case ast.Name(id=name):
            found = _CONSUMERS.get(name)
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in _MODULES:
            found = _CONSUMERS.get(name)
        case _:
            found = None
    if found is None:
        raise NoPipeline
    return found


def _reduction(node: ast.Call, code: ast.expr, parts: _Parts) -> ast.expr:
    """`reduce(f, elements)` or `reduce(f, elements, init)`."""
    if len(node.args) not in (2, 3):
        raise NoPipeline
    function, elements, *init = node.args
    if isinstance(function, ast.Starred) or isinstance(elements, ast.Starred):
        raise NoPipeline
    # Functions are evaluated before what is iterated over, wherever they stand.
    number, called = parts.function(function, made=False)
    lazy = isinstance(elements, ast.GeneratorExp) or _is_lazy_call(elements)
    if lazy:
        inner = _iterable(elements, parts, _CONSUMERS["reduce"])
    else:
        _, inner = parts.operand(elements)
    arguments = [("function", number)]
    given = [called, inner]
    if init:
        place, start = parts.operand(init[0], source=False)
        arguments.append(("operand", place))
        given.append(start)
    parts.step("reduce", function, *arguments)
    return call(code, given, node)


def _is_lazy_call(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("map", "filter")
    )


def _iterable(node: ast.expr, parts: _Parts, consumer: _Consumer) -> ast.expr:
    """What a consumer is given."""
    match node:
        case ast.GeneratorExp() if consumer.generator:
            return _comprehension(node, parts, consumer.reduces)
        case ast.ListComp() if consumer.eager:
            return _comprehension(node, parts, consumer.reduces)
        case ast.Call() if _is_lazy_call(node) and consumer.generator:
            return _lazy(node, parts)
        case _:
            raise NoPipeline


def _lazy(node: ast.Call, parts: _Parts) -> ast.expr:
    """`map(f, xs)`, `filter(p, xs)`, and these over each other."""
    assert isinstance(node.func, ast.Name)
    name, args = node.func.id, node.args
    least = 2
    if node.keywords or len(args) < least or any(isinstance(arg, ast.Starred) for arg in args):
        raise NoPipeline
    if name == "filter" and len(args) != least:
        raise NoPipeline
    code = parts.callee(node.func, getattr(builtins, name))
    function, *elements = args
    number, called = parts.function(function, made=False)
    if len(elements) == 1 and _is_lazy_call(elements[0]):
        inner = [_lazy(cast(ast.Call, elements[0]), parts)]
    elif len(elements) == 1 and isinstance(elements[0], ast.GeneratorExp):
        inner = [_comprehension(elements[0], parts)]
    else:
        inner = _side_by_side(elements, node, parts)
    parts.step(name, function, ("function", number))
    return call(code, [called, *inner], node)


def _side_by_side(elements: Sequence[ast.expr], node: ast.expr, parts: _Parts) -> list[ast.expr]:
    """Sources, zipped if there are several."""
    numbers: list[int] = []
    inner: list[ast.expr] = []
    for element in elements:
        number, code = parts.operand(element)
        numbers.append(number)
        inner.append(code)
    if len(numbers) > 1:
        text = ", ".join(parts.text.segment(element) for element in elements[1:])
        parts.step("zip", node, *(("operand", number) for number in numbers[1:]), text=text)
    return inner


# Comprehensions


def _comprehension(
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp, parts: _Parts, reduced: bool = False
) -> ast.expr:
    """The comprehension over its parts. `reduced`: one value is made of all elements."""
    if len(node.generators) != 1:
        raise NoPipeline
    (generator,) = node.generators
    if generator.is_async:
        raise NoPipeline
    shape = target_shape(generator.target)
    names = names_of(shape)
    if len(set(names)) < len(names):
        raise NoPipeline
    bodies = [*generator.ifs, node.elt]
    for body in bodies:
        _check(body, frozenset(names))
    plain = _same(node.elt, generator.target)
    if plain and not generator.ifs and not reduced:
        raise NoPipeline  # a copy: Python's own is as fast
    iterated = _source(generator.iter, shape, parts)
    for condition in generator.ifs:
        number, _ = parts.function(function_of(shape, condition), made=True)
        parts.step("filter", condition, ("function", number))
    if not plain:
        number, _ = parts.function(function_of(shape, node.elt), made=True)
        parts.step("map", node.elt, ("function", number))
    made = copy.copy(node)
    setattr(made, _SEEN, True)
    made.generators = [ast.comprehension(generator.target, iterated, generator.ifs, 0)]
    return made


def _same(element: ast.expr, target: ast.expr) -> bool:
    """Whether the comprehension gives its elements as they are."""
    return isinstance(element, ast.Name) and isinstance(target, ast.Name) and element.id == target.id


def _check(body: ast.expr, names: frozenset[str]) -> None:
    """NoPipeline where it can be seen that no compiled form exists, so that nothing is tried at run time."""
    for node in ast.walk(body):
        if isinstance(node, _NOT_NUMBERS):
            raise NoPipeline
        if isinstance(node, ast.Constant) and not isinstance(node.value, (bool, int, float)):
            raise NoPipeline
        if isinstance(node, ast.Name) and node.id in _READS_THE_FRAME:
            raise NoPipeline
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            raise NoPipeline
        if isinstance(node, ast.BinOp) and getattr(node.op, "pipe", False):
            raise NoPipeline


def _source(node: ast.expr, shape: Shape, parts: _Parts) -> ast.expr:
    """What is iterated over: `zip` and `enumerate` are stages, everything else is Python's to evaluate."""
    match node:
        case ast.Call(func=ast.Name(id="zip"), args=[*args], keywords=[]) if len(args) > 1:
            if any(isinstance(arg, ast.Starred) for arg in args) or not _takes(shape, len(args)):
                raise NoPipeline
            if isinstance(shape, tuple) and any(isinstance(part, tuple) for part in shape):
                raise NoPipeline
            code = parts.callee(node.func, zip)
            return call(code, _side_by_side(args, node, parts), node)
        case ast.Call(func=ast.Name(id="enumerate"), args=[elements, *start], keywords=[]) if len(start) < 2:
            if isinstance(elements, ast.Starred) or not _takes(shape, 2):
                raise NoPipeline
            inside = shape[1] if isinstance(shape, tuple) else "_"
            code = parts.callee(node.func, enumerate)
            inner = _source(elements, inside, parts)
            given, arguments = [inner], list[tuple[str, int]]()
            if start:
                number, begin = parts.operand(start[0], source=False)
                given.append(begin)
                arguments.append(("operand", number))
            parts.step("enumerate", node.func, *arguments, text="")
            return call(code, given, node)
        case _:
            if not isinstance(shape, str):
                raise NoPipeline  # the elements are no numbers
            return parts.operand(node)[1]


def _takes(shape: Shape, width: int) -> bool:
    return isinstance(shape, str) or len(shape) == width


__all__ = ["TRY", "Ordinary", "Step", "recognised"]
