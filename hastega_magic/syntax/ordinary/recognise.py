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
import functools
from collections.abc import Callable
from typing import Any, cast

from hastega_magic.syntax.ordinary.beside import beside
from hastega_magic.syntax.ordinary.comprehension import SEEN, comprehension, side_by_side
from hastega_magic.syntax.ordinary.consumers import Consumer, consumer_of, eager_consumer, keys_of
from hastega_magic.syntax.ordinary.grid import as_it_stands, grid, rows_of
from hastega_magic.syntax.ordinary.parts import CALLEES, FUNCTIONS, IS_FEW, OPERANDS, ROWS, Ordinary, Parts
from hastega_magic.syntax.ordinary.quiet import roots_behind
from hastega_magic.syntax.ordinary.rewriting import NoPipeline, call, function, placed
from hastega_magic.syntax.ordinary.trailing import in_class
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.reading.trees import copied
from hastega_magic.syntax.site import BOXED, TRY, new_site_id

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
    if getattr(node, SEEN, False):
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
    site = parts.site(node, new_site_id())
    source = parts.operands[0]
    roots = parts.read(source)
    code = inside(fallback)
    few = as_it_stands(code) if parts.cut else None
    arguments = [*parts.arguments(site, visit), _by_python(code, few)]
    tried = ast.Call(ast.Name(TRY, ast.Load()), arguments, [])
    made: ast.expr = tried
    asked: tuple[int, ...] = ()
    if parts.as_they_are:
        many = ast.Call(ast.Name(BOXED, ast.Load()), [copied(source)], [])
        made = ast.IfExp(many, tried, copied(node))
    else:
        own = [each for number, each in enumerate(parts.functions) if number not in parts.made]
        made, asked = beside(tried, few or code, own, parts.sources, parts.in_class)
    found = parts.ordinary(site, roots, asked, after, keys_of(getattr(node, _FOR, None)))
    return found, placed(made, node)


def _by_python(code: ast.expr, few: ast.expr | None) -> ast.Lambda:
    """What Python runs instead, over the parts; if it is told so, `few`, in which rows are not tried."""
    made = function([CALLEES, FUNCTIONS, OPERANDS], code)
    if few is not None:
        made.args.args.append(ast.arg(ROWS))
        made.args.defaults.append(ast.Constant(True))
        made.body = ast.IfExp(ast.Name(ROWS, ast.Load()), code, copied(few))
    return made


def is_consumed(node: ast.expr) -> bool:
    """Whether it is the generator of a call that takes all of its elements at once, which has been looked at."""
    return getattr(node, SEEN, False) or getattr(node, _FOR, None) is not None


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
        parts.callee(copied(consumer), eager_consumer(consumer))
        parts.need(getattr(node, _BEHIND))
        inner = _iterable(node, parts, Consumer(None, "to_list"))
        parts.step("to_list", node, text="")
        return inner, None
    match node:
        case ast.ListComp() if (row := rows_of(node)) is not None:
            inner = grid(node, row, parts)
            parts.step("to_list", node, text="")
            return inner, None
        case ast.ListComp() | ast.SetComp() | ast.DictComp():
            inner = comprehension(node, parts)
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
    if consumer.sink in ("min", "max") and given.keys() == {"key"} and first and not others:
        return _by_key(first[0], node, code, consumer, parts), None
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


def _by_key(elements: ast.expr, node: ast.Call, code: ast.expr, consumer: Consumer, parts: Parts) -> ast.expr:
    """`max(xs, key=f)`: the element that stands where the function is largest first."""
    (key,) = node.keywords
    if _iterates(elements) or isinstance(elements, ast.Starred):
        raise NoPipeline
    match key.value:  # which the call has in front of what is iterated over, that Python evaluates first
        case ast.Lambda(args=ast.arguments(defaults=[], kw_defaults=[])):
            pass
        case ast.Name(id="abs" | "int" | "float" | "bool"):
            pass
        case _:
            raise NoPipeline("its key is no lambda, nor a function of numbers by name")
    number, called = parts.function(key.value, made=False)
    _, inner = parts.operand(elements)
    parts.step("map", key.value, ("function", number))
    parts.step(f"arg{consumer.sink}", node.func, text="")
    parts.picks = True
    return placed(ast.Call(code, [inner], [ast.copy_location(ast.keyword("key", called), key)]), node)


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
            return comprehension(node, parts, consumer.reduces)
        case ast.ListComp() if consumer.eager:
            return comprehension(node, parts, consumer.reduces)
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
        inner = [comprehension(elements[0], parts)]
    else:
        inner = side_by_side(elements, node, parts)
    parts.step(name, function, ("function", number))
    return call(code, [called, *inner], node)


__all__ = ["is_consumed", "recognised"]
