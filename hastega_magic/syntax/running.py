"""Stages whose value at an element depends on the one before, and functions that may be applied in any order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.affine import affine
from hastega_magic.ir.expr import Expr, flatten, leaf, make, postorder
from hastega_magic.ir.pipeline import Fn, Sink, Source, Stage
from hastega_magic.syntax import mixed
from hastega_magic.syntax.cell import StageSite
from hastega_magic.syntax.functions import name_of
from hastega_magic.syntax.graph import known
from hastega_magic.syntax.joining import Cut, Loop, ends, scalar
from hastega_magic.syntax.lower import lower
from hastega_magic.types import BOOL, FLOAT32, INT, Either, ScalarType


def reduce(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """In parallel, where the function is known not to depend on the order; else in the order of the elements."""
    kind = None
    if loop.element is leaf("param", INT, 0) and type(given.get("init", 0)) is int:
        pair = (leaf("param", INT, 0), leaf("param", INT, 1))
        fn = lower(given["f"], pair, loop.env, pair)
        kind = _ASSOCIATIVE.get(fn.result) if isinstance(fn.result, Expr) and not fn.effects else None
    if kind is None:
        _running(loop, site, given, "fold")
        return
    ends(loop, site, f"reduce_{kind}")
    loop.initial = (given["init"],) if "init" in given else ()


def scan(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """In the order of the elements."""
    _running(loop, site, given, "scan")


def cumsum(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """Ints exactly; floats in a fixed shape, for which blocks have to be full."""
    value = scalar(loop, "cumsum")
    if value.type.is_float and loop.filtered:
        raise Cut
    if value.type is BOOL:
        counted = Fn(loop.element, make("bool_to_int", value), (), site.text, site.span)
        loop.add(Stage("map", site.text, site.span, counted), INT)
    ends(loop, site, "cumsum")


def _running(loop: Loop, site: StageSite, given: Mapping[str, Any], kind: str) -> None:
    """The function over the value so far and an element, of types that stay the same."""
    value = scalar(loop, site.name)
    if loop.tail or loop.view.count is None:
        raise Cut
    init: Source | None = None
    start: Expr | None = None
    if "init" not in given:
        type_ = value.type
        fn = _stepping(loop, given["f"], type_, value.type)
        if not _same(cast(Expr, fn.result).type, type_):
            raise NotCompilable(f"`{name_of(given['f'])}` gives another type than the elements have")
    else:
        begin = known(given["init"], "init")
        if not isinstance(begin, Expr):
            raise NotCompilable(f"`{site.name}` from {given['init']!r} is left to Python, as it is no number")
        start, type_ = begin, begin.type
        fn = _stepping(loop, given["f"], type_, value.type)
        result = cast(Expr, fn.result).type
        if not _same(result, type_):
            if not (type_ is INT and result.is_float and _converts(fn)):
                raise NotCompilable(
                    f"`{name_of(given['f'])}` gives another type than the value it begins with"
                )
            type_ = result
            fn = _stepping(loop, given["f"], type_, value.type)
            if not _same(cast(Expr, fn.result).type, type_):
                raise NotCompilable(f"`{name_of(given['f'])}` gives values of different types")
    if kind == "scan" and loop.filtered and affine(fn) is not None:
        raise Cut  # rows of 8 are rows of the elements that are left
    if start is not None:
        init = loop.env.number(f"start of {site.name}", start.value, type_, loop.whole.count or 0)
    loop.sink = Sink(kind, site.text, site.span, 0.0, fn, init)
    loop.running = kind


def _stepping(loop: Loop, function: Any, total: ScalarType, element: ScalarType) -> Fn:
    pair = (leaf("param", total, 0), leaf("param", element, 1))
    fn = lower(function, pair, loop.env, pair)
    if isinstance(fn.result, Either):
        raise NotCompilable(
            f"`{name_of(function)}` gives {mixed.described(fn.result)}, and is left to Python"
        )
    if not isinstance(fn.result, Expr):
        raise NotCompilable(f"`{name_of(function)}` gives a tuple")
    return fn


def _same(a: ScalarType, b: ScalarType) -> bool:
    """Whether the machine holds both alike, and Python calculates alike with them."""
    return a is b or (a.is_float and b.is_float and FLOAT32 not in (a, b))


def _converts(fn: Fn) -> bool:
    """Whether an int that the function begins with is used as a float alone."""
    total = flatten(fn.params)[0]
    roots = [*flatten(fn.result), *(node for pair in fn.effects for node in pair if node is not None)]
    users = [node for node in postorder(roots) if total in node.args]
    return total not in roots and all(node.op == "int_to_float" for node in users)


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
