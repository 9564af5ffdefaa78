"""Ordinary code that is a pipeline: comprehensions, and calls that consume a generator, a `map` or a `filter`.

    [f(x) for x in xs if p(x)]     xs |> filter(lambda x: p(x)) |> map(lambda x: f(x)) |> to_list
    sum(x * y for x, y in zip(xs, ys))     xs |> zip(ys) |> map(lambda x, y: x * y) |> sum

It is replaced by a call that is handed the callees as Python finds them, the functions, what is iterated over, and the
code itself as a function of these, for Python to run where the pipeline cannot be compiled:

    TRY(7, (sum, zip), (lambda x, y: x * y,), (xs, ys), lambda c, f, o: c[0](x * y for x, y in c[1](*o)))

The code stands beside the call too, for few elements (`beside.py`).

What takes the elements of a variable as they are, as `sum(xs)`, is quick over lists: it is replaced for arrays alone.

    TRY(8, (sum,), (), (xs,), lambda c, f, o: c[0](o[0])) if BOXED(xs) else sum(xs)
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

from hastega_magic.syntax.ordinary.beside import beside
from hastega_magic.syntax.ordinary.consumers import Consumer, consumer_of, eager_consumer, keys_of
from hastega_magic.syntax.ordinary.parts import CALLEES, FUNCTIONS, IS_FEW, OPERANDS, Ordinary, Parts, Step
from hastega_magic.syntax.ordinary.quiet import roots_behind
from hastega_magic.syntax.ordinary.refused import check
from hastega_magic.syntax.ordinary.rewriting import (
    NoPipeline,
    Shape,
    call,
    function,
    function_of,
    names_of,
    placed,
    target_shape,
)  # fmt: skip
from hastega_magic.syntax.ordinary.trailing import in_class
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.site import BOXED, TRY, Site, StageSite, new_site_id

_SEEN = "hastega_seen"
"""An attribute of comprehensions that have been made a part of a pipeline: there is nothing more to be made of them."""

_FOR = "hastega_for"
"""An attribute of generators: the function that they are given to, which takes all elements."""

_BEHIND = "hastega_behind"
"""Another: what variables have to hold, for what stands behind them in the call to change nothing."""


def recognised(
    node: ast.expr,
    text: Text,
    visit: Callable[[ast.expr], Any],
    inside: Callable[[ast.expr], Any],
    refuse: Callable[[ast.expr, str], None],
) -> tuple[Ordinary, ast.expr] | None:
    """The code as a pipeline, and the call that stands for it; None if it is none, for which `refuse` is told a reason.

    `visit` rewrites an expression, `inside` what stands in it: the code that Python runs where the pipeline cannot be
    compiled is rewritten too.
    """
    if getattr(node, _SEEN, False):
        return None
    parts = Parts(text, in_class=in_class(node))
    try:
        fallback, after = _whole(node, parts)
        if parts.is_few():
            raise NoPipeline(IS_FEW)
    except NoPipeline as error:
        if not _handed_on(node) and str(error):
            refuse(node, str(error))
        return None
    stages = tuple(
        StageSite(step.stage, shown, span, known=True)
        for step, (shown, span) in zip(parts.steps, parts.places, strict=True)
    )
    source = parts.operands[0]
    span, source_span = text.span(node), text.span(source)
    shown, name = text.cut(source_span), source.id if isinstance(source, ast.Name) else None
    if parts.nest is not None:
        shown, name = f"the places of {shown}", None
    site = Site(new_site_id(), text.cut(span), span, shown, stages, name, source, None, source_span)
    roots = parts.read(source)
    arguments: list[ast.expr] = [
        ast.Constant(site.id),
        ast.Tuple(parts.callees, ast.Load()),
        ast.Tuple([each if number in parts.made else visit(each) for number, each in enumerate(parts.functions)],
                  ast.Load()),
        ast.Tuple([visit(each) for each in parts.operands], ast.Load()),
        function([CALLEES, FUNCTIONS, OPERANDS], code := inside(fallback)),
    ]  # fmt: skip
    tried = ast.Call(ast.Name(TRY, ast.Load()), arguments, [])
    made: ast.expr = tried
    asked: tuple[int, ...] = ()
    if parts.as_they_are:
        many = ast.Call(ast.Name(BOXED, ast.Load()), [copy.deepcopy(source)], [])
        made = ast.IfExp(many, tried, copy.deepcopy(node))
    elif parts.nest is None:
        own = [each for number, each in enumerate(parts.functions) if number not in parts.made]
        made, asked = beside(tried, code, own, parts.sources, parts.in_class)
    found = Ordinary(
        site, tuple(parts.expected), tuple(parts.steps), parts.made, after, tuple(parts.sources),
        frozenset(parts.backwards), parts.start, parts.nest, keys_of(getattr(node, _FOR, None)),
        tuple(parts.later), roots, asked,
    )  # fmt: skip
    return found, placed(made, node)


def is_consumed(node: ast.expr) -> bool:
    """Whether it is the generator of a call that takes all of its elements at once, which has been looked at."""
    return getattr(node, _SEEN, False) or getattr(node, _FOR, None) is not None


def _handed_on(node: ast.expr) -> bool:
    """Whether what the call consumes may be a pipeline by itself; it is marked then."""
    match node:
        case ast.Call(func=callee, args=[ast.GeneratorExp() | ast.Call() as given, *_]):
            consumer = eager_consumer(callee)
            if not _iterates(given) or consumer is None:
                return False
            try:
                behind = roots_behind(node, consumer)
            except NoPipeline:
                return False
            setattr(given, _FOR, callee)
            setattr(given, _BEHIND, behind)
            return True
        case _:
            return False


def _whole(node: ast.expr, parts: Parts) -> tuple[ast.expr, Callable[[Any], Any] | None]:
    """The code as a function of its parts, and what becomes of the pipeline's value."""
    consumer: ast.expr | None = getattr(node, _FOR, None)
    if consumer is not None:
        parts.callee(copy.deepcopy(consumer), eager_consumer(consumer))
        parts.need(getattr(node, _BEHIND))
        inner = _iterable(node, parts, Consumer(None, "to_list"))
        parts.step("to_list", node, text="")
        return inner, None
    match node:
        case ast.ListComp() | ast.SetComp() | ast.DictComp():
            inner = _comprehension(node, parts)
            parts.step("to_list", node, text="")
            made = set if isinstance(node, ast.SetComp) else dict if isinstance(node, ast.DictComp) else None
            return inner, made
        case ast.GeneratorExp():
            raise NoPipeline("what takes its elements may not ask for all of them")
        case ast.Call():
            return _consumed(node, parts)
        case _:
            raise NoPipeline


def _consumed(node: ast.Call, parts: Parts) -> tuple[ast.expr, Callable[[Any], Any] | None]:
    """A call of a consumer."""
    consumer = consumer_of(node.func)
    code = parts.callee(node.func, consumer.callee)
    if consumer.sink == "reduce":
        if node.keywords:
            raise NoPipeline
        return _reduction(node, code, parts), None
    first, others = node.args[:1], node.args[1:]
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    plain = not others and not given and first and isinstance(first[0], ast.Name)
    # A class's namespace may tell how often it is asked for the name.
    if consumer.folds and plain and not parts.in_class:
        parts.as_they_are = True
        _, inner = parts.operand(first[0])
        parts.step(consumer.sink, node.func, text="")
        return call(code, [inner], node), consumer.after
    if not first or not _iterates(first[0]):
        raise NoPipeline
    taken = {"sum": "start", "min": "default", "max": "default"}.get(consumer.sink)
    by_place = (
        consumer.sink == "sum" and len(others) == 1 and not given and not isinstance(others[0], ast.Starred)
    )
    if by_place:
        given, others = {"start": others[0]}, []
    if others or given.keys() - {taken}:
        raise NoPipeline("it is called with arguments that no pipeline has")
    inner = _iterable(first[0], parts, consumer)
    parts.step(consumer.sink, node.func, text="")
    fallback = ast.Call(code, [inner], [])
    for value in given.values():
        number, operand = parts.behind(value)
        parts.start = number if taken == "start" else None
        if by_place:  # what else has the name may call it otherwise
            fallback.args.append(operand)
        else:
            fallback.keywords.append(ast.copy_location(ast.keyword(taken, operand), value))
    return placed(fallback, node), consumer.after


def _iterates(node: ast.expr) -> bool:
    return isinstance(node, (ast.GeneratorExp, ast.ListComp)) or _is_lazy_call(node)


def _reduction(node: ast.Call, code: ast.expr, parts: Parts) -> ast.expr:
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
        inner = _iterable(elements, parts, Consumer(functools.reduce, "reduce"))
    else:
        _, inner = parts.operand(elements)
    arguments = [("function", number)]
    given = [called, inner]
    if init:
        place, start = parts.behind(init[0]) if lazy else parts.operand(init[0], source=False)
        arguments.append(("operand", place))
        given.append(start)
    parts.step("reduce", function, *arguments)
    return call(code, given, node)


def _is_lazy_call(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("map", "filter")
    )


def _iterable(node: ast.expr, parts: Parts, consumer: Consumer) -> ast.expr:
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


def _lazy(node: ast.Call, parts: Parts) -> ast.expr:
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


def _side_by_side(elements: Sequence[ast.expr], node: ast.expr, parts: Parts) -> list[ast.expr]:
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
    node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, parts: Parts, reduced: bool = False
) -> ast.expr:
    """The comprehension over its parts. `reduced`: one value is made of all elements."""
    if len(node.generators) > 1:
        return _nested(node, parts, reduced)
    (generator,) = node.generators
    if generator.is_async:
        raise NoPipeline("it awaits its elements")
    shape = target_shape(generator.target)
    names = names_of(shape)
    if len(set(names)) < len(names):
        raise NoPipeline("a name stands twice in its target")
    element = _pair(node) if isinstance(node, ast.DictComp) else node.elt
    for body in (*generator.ifs, element):
        check(body, frozenset(names))
    plain = _same(element, generator.target)
    if plain and not generator.ifs and not reduced:
        raise NoPipeline("it hands its elements on as they are, in which Python is as fast")
    iterated = _source(generator.iter, shape, parts)
    for condition in generator.ifs:
        number, _ = parts.function(function_of(shape, condition), made=True)
        parts.step("filter", condition, ("function", number))
    if not plain:
        number, _ = parts.function(function_of(shape, element), made=True)
        parts.step("map", element, ("function", number))
    made = copy.copy(node)
    setattr(made, _SEEN, True)
    made.generators = [ast.comprehension(generator.target, iterated, generator.ifs, 0)]
    return made


def _nested(
    node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, parts: Parts, reduced: bool
) -> ast.expr:
    """The same of several clauses."""
    element = _pair(node) if isinstance(node, ast.DictComp) else node.elt
    bodies = [*(condition for each in node.generators for condition in each.ifs), element]
    names = frozenset(name for each in node.generators for name in names_of(target_shape(each.target)))
    for body in bodies:
        check(body, names)
    if len(bodies) == 1 and not reduced and isinstance(element, ast.Name) and element.id in names:
        raise NoPipeline("it hands its elements on as they are, in which Python is as fast")
    from hastega_magic.syntax.ordinary.nest import nested

    generators, shape = nested(node.generators, parts)
    number, _ = parts.function(function_of(tuple(shape), element), made=True)
    parts.step("map", element, ("function", number))
    made = copy.copy(node)
    setattr(made, _SEEN, True)
    made.generators = generators
    return made


def _pair(node: ast.DictComp) -> ast.expr:
    """Key and value, which Python evaluates in this order."""
    if getattr(node, "value", None) is None:  # `{**each for each in xs}`, since Python 3.15
        raise NoPipeline("it unpacks its elements")
    pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node.key)
    pair.end_lineno, pair.end_col_offset = node.value.end_lineno, node.value.end_col_offset
    return pair


def _same(element: ast.expr, target: ast.expr) -> bool:
    """Whether the comprehension gives its elements as they are."""
    return isinstance(element, ast.Name) and isinstance(target, ast.Name) and element.id == target.id


def _source(node: ast.expr, shape: Shape, parts: Parts) -> ast.expr:
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
            before = len(parts.callees)
            inner = _source(elements, inside, parts)
            made = len(parts.callees) > before  # an iterator
            given, arguments = [inner], list[tuple[str, int]]()
            if start:
                number, begin = parts.behind(start[0]) if made else parts.operand(start[0], source=False)
                given.append(begin)
                arguments.append(("operand", number))
            parts.step("enumerate", node.func, *arguments, text="")
            return call(code, given, node)
        case ast.Call(func=ast.Name(id="reversed"), args=[elements], keywords=[]) if isinstance(shape, str):
            if isinstance(elements, ast.Starred):
                raise NoPipeline
            code = parts.callee(node.func, reversed)
            number, inner = parts.operand(elements)
            parts.backwards.add(number)
            return call(code, [inner], node)
        case _:
            if isinstance(shape, tuple) and (
                len(shape) < 2 or any(isinstance(part, tuple) for part in shape)
            ):
                raise NoPipeline("its elements are taken apart otherwise than tuples of numbers can be")
            return parts.operand(node)[1]


def _takes(shape: Shape, width: int) -> bool:
    return isinstance(shape, str) or len(shape) == width


__all__ = ["Ordinary", "Step", "is_consumed", "recognised"]
