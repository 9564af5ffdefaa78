"""Stages whose value at an element depends on the one before, and functions that may be applied in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from hastega_magic.errors import BeyondInt64, NotCompilable
from hastega_magic.interval import INT64
from hastega_magic.ir.affine import affine, keeps_changing, may_be_affine
from hastega_magic.ir.expr import (
    Expr,
    Value,
    const,
    convert,
    flatten,
    leaf,
    make,
    postorder,
    rewrite,
    structure,
    substitute,
)
from hastega_magic.ir.pipeline import Fn, Sink, Source, Stage
from hastega_magic.syntax.closures.given import BEGINNINGS
from hastega_magic.syntax.closures.numbers import counted
from hastega_magic.syntax.functions.lower import lower, parameters
from hastega_magic.syntax.loops.loop import BoundStage, Cut, Loop, ends, scalar, value_text
from hastega_magic.syntax.reading.functions import name_of
from hastega_magic.syntax.site import StageSite
from hastega_magic.syntax.stages import STAGES
from hastega_magic.syntax.values import mixed
from hastega_magic.syntax.values.graph import known
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT, Complex, Composite, Either, ScalarType


def reduce(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """In parallel, where the function is known not to depend on the order; else in the order of the elements."""
    kind, begun = None, begins_with(loop)
    plain = loop.element is leaf("param", INT, 0) and not _of_numpys_scalars(loop)
    if plain and set(map(type, begun)) <= {int}:
        pair = (leaf("param", INT, 0), leaf("param", INT, 1))
        fn = lower(given["f"], pair, loop.env, pair)
        if isinstance(fn.result, Expr) and not fn.effects:
            kind = _ASSOCIATIVE.get(fn.result) or _of_terms(loop, site, fn.result, "init" in given)
    if kind is None:
        _running(loop, site, given, "fold")
        return
    ends(loop, site, f"reduce_{kind}")
    loop.initial = begun


def begins_with(loop: Loop) -> tuple[object, ...]:
    """What a reduction is given to begin with, itself: what comes of the elements is combined with it afterwards."""
    assert loop.bound is not None
    return begun_with(loop.bound)


def begun_with(stage: BoundStage) -> tuple[object, ...]:
    """The same of a stage; () of those that begin with nothing."""
    name = BEGINNINGS.get(stage.site.name, "")
    given = STAGES[stage.site.name].bind(stage.args, stage.kwargs) if name else {}
    return (given[name],) if name in given else ()


def _of_terms(loop: Loop, site: StageSite, graph: Expr, begun: bool) -> str | None:
    """`a + g(x)`, `a - g(x)`, `max(a, g(x))`: terms that are combined in any order. None for other functions.

    `begun`: from a number on; else the first element is no term, but taken as it is.
    """
    total, element = leaf("param", INT, 0), leaf("param", INT, 1)
    if graph.op == "sub" and graph.args[0] is total:
        graph = make("add", total, make("neg", graph.args[1]))
    operands = graph.args[0].args if graph.op == "select" else graph.args
    terms = [each for each in operands if each is not total]
    if len(terms) != 1 or len(operands) != 2 or terms[0].type is not INT or total in postorder(terms):
        return None
    (term,) = terms
    kind = _ASSOCIATIVE.get(rewrite([graph], lambda node: element if node is term else node)[graph])
    if kind is None or (loop.filtered and not begun):
        return None
    if begun:
        result = substitute(term, {element: total})
    else:
        loop.needs_position()
        loop.add(Stage("enumerate", site.text, site.span), (INT, INT))
        result = make("select", make("eq", total, const(0)), element, term)
    loop.add(Stage("map", site.text, site.span, Fn(loop.element, result, (), site.text, site.span)), INT)
    return kind


def scan(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """In the order of the elements."""
    _running(loop, site, given, "scan")


def cumsum(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """Ints exactly; floats in a fixed shape, for which blocks have to be full; of complex numbers each part so."""
    value = _element(loop, "cumsum")
    if loop.filtered and flatten(value)[0].type.is_float:
        raise Cut
    if isinstance(value, Expr) and value.type is BOOL:
        counted = Fn(loop.element, make("bool_to_int", value), (), site.text, site.span)
        loop.add(Stage("map", site.text, site.span, counted), INT)
    ends(loop, site, "cumsum")


def _element(loop: Loop, name: str) -> Value:
    """The element, which must be a number, complex or not."""
    return loop.element if isinstance(loop.element, Complex) else scalar(loop, name)


def _running(loop: Loop, site: StageSite, given: Mapping[str, Any], kind: str) -> None:
    """The function over the value so far and an element, of types that stay the same; both may be tuples."""
    if any(isinstance(each, Either) for each in _numbers(loop.element)):
        scalar(loop, site.name)  # raises
    element = structure(loop.element)
    if loop.tail or loop.view.count is None:
        raise Cut
    start = _start(loop, site, given["init"]) if "init" in given else None
    fn = _stepping(loop, given["f"], element if start is None else structure(start), element)
    total = cast("tuple[Value, Value]", fn.params)[0]
    if _shape(fn.result) != _shape(total) and (_is_tuple(fn.result) or _is_tuple(total)):
        raise NotCompilable(f"`{name_of(given['f'])}` gives a tuple, or none, unlike the value so far")
    if not _same(fn.result, total):
        if start is None:
            raise NotCompilable(f"`{name_of(given['f'])}` gives another type than the elements have")
        fn = _from_the_second(loop, given["f"], fn, element)
    _look_at(fn, name_of(given["f"]), kind, getattr(loop.env, "checked", False))
    if kind == "scan" and loop.filtered and affine(fn) is not None:
        raise Cut  # rows of 8 are rows of the elements that are left
    init = (
        () if start is None else tuple(_begun(loop, site, start, cast("tuple[Value, Value]", fn.params)[0]))
    )
    loop.sink = Sink(kind, site.text, site.span, 0.0, fn, init)
    loop.running = kind


def _begun(loop: Loop, site: StageSite, start: Value, total: Value) -> Iterator[Source]:
    """The numbers of what the value so far begins with."""
    numbers = list(zip(_numbers(start), _numbers(total), strict=True))
    for place, (begun, held) in enumerate(numbers):
        which = f", number {place}" if len(numbers) > 1 else ""
        type_ = cast("ScalarType | Complex", structure(held))
        name, parts, length = f"start of {site.name}{which}", flatten(begun), loop.whole.count or 0
        if any(map(keeps_changing, parts)):
            yield cast(Any, loop.env).start(name, parts, type_, length)
            continue
        values: list[Any] = [node.value for node in parts]
        yield loop.env.number(name, complex(*values) if len(values) > 1 else values[0], type_, length)


def _numbers(value: Value) -> list[Value]:
    """The numbers of an element, from left to right: itself, or those of a tuple."""
    if isinstance(value, (Expr, Composite)):
        return [value]
    return [number for part in value for number in _numbers(part)]


def _look_at(fn: Fn, name: str, kind: str, checked: bool) -> None:
    """NotCompilable for numbers that a step has no room for, or that decide how it is computed.

    `checked`: none that a step has no room for, as it is Python that looks at the steps.
    """
    nodes = list(postorder(fn.roots()))
    if kind == "scan" and any(map(keeps_changing, nodes)) and affine(fn) is None and may_be_affine(fn):
        # Rows have other roundings than one element after the other: results are not to hang on runs before.
        raise NotCompilable(f"`{name}` reads a number that keeps changing: it is to be a constant")
    for node in () if checked else nodes:
        if node.op == "const" and isinstance(node.value, int) and node.value not in INT64:
            raise NotCompilable(f"the constant {node.value} does not fit in 64 bits")


def _start(loop: Loop, site: StageSite, init: object) -> Value:
    """The constant that the value so far begins with, or those of a tuple.

    BeyondInt64 where `--int checked` has to raise, as a step has a number that no int64 holds from the beginning.
    """
    if type(init) is tuple and init:
        return tuple(_start(loop, site, each) for each in cast("tuple[object, ...]", init))
    # By NumPy's rules, a scalar of its own is computed with as the number that it is.
    begun = cast(object, init)
    begin = known(counted(begun) if _of_numpys_scalars(loop) else begun, "init")
    if isinstance(begin, Expr) and isinstance(begin.value, int) and begin.value not in INT64:
        # Of stages before it filters may leave nothing to take a step to: these have a loop of their own then.
        if getattr(loop.env, "checked", False) and not loop.stages and loop.whole.count:
            raise BeyondInt64(f"`{site.name}` begins with {begin.value}, which no int64 holds")
        raise NotCompilable(f"`{site.name}` begins beyond 64 bits, and is left to Python")
    if isinstance(begin, (Expr, Complex)):
        return begin
    raise NotCompilable(f"`{site.name}` from {value_text(begun)} is left to Python, as it is no number")


def _stepping(loop: Loop, function: Any, total: object, element: object) -> Fn:
    so_far = parameters(total)
    pair = (so_far, parameters(element, len(flatten(so_far))))
    fn = lower(function, pair, loop.env, pair)
    mixture = next((each for each in _numbers(fn.result) if isinstance(each, Either)), None)
    if mixture is not None:
        raise NotCompilable(f"`{name_of(function)}` gives {mixed.described(mixture)}, and is left to Python")
    if not flatten(fn.result):
        raise NotCompilable(f"`{name_of(function)}` gives a tuple of this kind, and is left to Python")
    return fn


def _of_numpys_scalars(loop: Loop) -> bool:
    return getattr(loop.env, "scalars", None) is not None


def _is_tuple(value: Value) -> bool:
    return not isinstance(value, (Expr, Composite))


def _from_the_second(loop: Loop, function: Any, first: Fn, element: object) -> Fn:
    """The function over values as it gives them, where what it begins with may be made one of them before."""
    begun, result = cast("tuple[Value, Value]", first.params)[0], structure(first.result)
    later = _stepping(loop, function, result, element)
    if not _same(later.result, first.result):
        raise NotCompilable(f"`{name_of(function)}` gives values of different types")
    if _converts(first) or _converted(first, later):
        return later
    hint = ": begin with 0j" if isinstance(result, Complex) and isinstance(begun, Expr) else ""
    raise NotCompilable(f"`{name_of(function)}` gives another type than the value it begins with{hint}")


def _same(a: Value, b: Value) -> bool:
    """Whether the machine holds both alike, and Python calculates alike with them."""
    if _shape(a) != _shape(b):
        return False
    return all(
        x.type is y.type or (x.type.is_float and y.type.is_float and FLOAT32 not in (x.type, y.type))
        for x, y in zip(flatten(a), flatten(b), strict=True)
    )


def _shape(value: Value) -> object:
    """How many numbers there are, in which tuples, and which are complex."""
    return type(value) if isinstance(value, (Expr, Composite)) else tuple(map(_shape, value))


def _converts(fn: Fn) -> bool:
    """Whether an int that the function begins with is used as a float alone, and all values are Python's floats."""
    total, result, roots = flatten(fn.params)[0], fn.result, fn.roots()
    if total.type is not INT or not isinstance(result, Expr) or result.type not in (FLOAT, FLOAT64):
        return False
    users = [node for node in postorder(roots) if total in node.args]
    return total not in roots and all(node.op == "int_to_float" for node in users)


def _converted(first: Fn, later: Fn) -> bool:
    """Whether the first step is a later one over what it begins with, converted: the same graph."""
    (begun, element), (so_far, following) = (
        cast("tuple[Value, Value]", each.params) for each in (first, later)
    )
    given, wanted = flatten(begun), flatten(so_far)
    try:
        made = [convert(*pair) for pair in zip(given, (node.type for node in wanted), strict=False)]
    except NotCompilable:
        return False
    made += [const(0.0, node.type) for node in wanted[len(made) :]]
    new = dict(zip(wanted, made, strict=True)) | dict(zip(flatten(following), flatten(element), strict=True))
    after = rewrite(later.roots(), lambda node: new.get(node, node))
    return [after[node] for node in later.roots()] == first.roots()


def _associative() -> dict[Expr, str]:
    """Graphs over two ints of operators that do not depend on order."""
    x, y = leaf("param", INT, 0), leaf("param", INT, 1)
    graphs: dict[Expr, str] = {}
    for p, q in ((x, y), (y, x)):
        graphs |= {make(op, p, q): op for op in ("add", "mul", "and", "or", "xor", "min", "max")}
        for less, greater in (("lt", "gt"), ("le", "ge")):
            for smaller in (
                make("select", make(less, p, q), p, q),
                make("select", make(greater, p, q), q, p),
            ):
                graphs[smaller] = "min"
            for larger in (make("select", make(greater, p, q), p, q), make("select", make(less, p, q), q, p)):
                graphs[larger] = "max"
    return graphs


_ASSOCIATIVE = _associative()
