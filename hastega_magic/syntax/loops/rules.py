"""How each stage joins a loop."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.expr import Expr, Value, const, convert, make, structure
from hastega_magic.ir.pipeline import MIXED_SINKS, Fn, Stage
from hastega_magic.syntax.functions.lower import BOOLS_BESIDE_NUMPY, lower
from hastega_magic.syntax.loops import rules_order, rules_scan
from hastega_magic.syntax.loops.loop import Cut, Loop, Rule, ends, integer, scalar, value_text
from hastega_magic.syntax.operations.complex_numbers import no_order
from hastega_magic.syntax.site import StageSite
from hastega_magic.syntax.values import mixed
from hastega_magic.syntax.values.graph import known
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT, Complex, Either


def _map(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    _mapped(loop, site, lower(given["f"], loop.element, loop.env))


def _mapped(loop: Loop, site: StageSite, fn: Fn) -> None:
    loop.fallible = loop.fallible or bool(fn.effects)
    loop.add(Stage("map", site.text, site.span, fn), structure(fn.result))


def _filter(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    function = bool if given["f"] is None else given["f"]
    fn = lower(function, loop.element, loop.env, predicate=True)
    loop.fallible = loop.fallible or bool(fn.effects)
    loop.filtered = True
    loop.add(Stage("filter", site.text, site.span, fn), structure(loop.element))


def _zip(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    if given.get("strict", False) is not False:
        raise NotCompilable("`zip` with `strict` compares the lengths, which is left to Python")
    _zipped(loop, site, (given["other"], *given["rest"]))


def _zipped(loop: Loop, site: StageSite, others: tuple[Any, ...]) -> None:
    loop.needs_position()
    if (loop.view.start, loop.view.step) != (0, 1):
        raise Cut  # the others begin at their own start
    sources = tuple(loop.env.source(other) for other in others)
    types = (structure(loop.element), *(source.structure for source in sources))
    shortest = min(source.length for source in sources)
    if loop.view.count is not None and shortest < loop.view.count and loop.fallible:
        raise Cut  # Python computes one more element of the first before it sees that another has ended
    loop.add(Stage("zip", site.text, site.span, None, sources), types)
    if loop.view.count is not None:
        loop.view, loop.whole = loop.view.at_most(shortest), loop.whole.at_most(shortest)


def _enumerate(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    loop.needs_position()
    start = given.get("start", 0)
    if not isinstance(start, Expr):
        stage = Stage("enumerate", site.text, site.span, number=integer("enumerate", start))
        loop.add(stage, (INT, structure(loop.element)))
        return
    if start.type is not INT:
        raise NotCompilable("`enumerate` is given a float, which is no integer")
    loop.add(Stage("enumerate", site.text, site.span), (INT, structure(loop.element)))
    number, element = cast("tuple[Expr, Value]", loop.element)
    _mapped(loop, site, Fn(loop.element, (make("add", number, start), element), (), site.text, site.span))


# Elements one by one


def _clip(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    value = _number(loop, "clip")
    result = mixed.by_sides(value, lambda side: _clipped(side, given["lo"], given["hi"]))
    _mapped(loop, site, Fn(loop.element, result, (), site.text, site.span))


def _clipped(value: Expr, lo: object, hi: object) -> Value:
    most = None if hi is None else _alike(hi, value, "clip")
    least = None if lo is None else _alike(lo, value, "clip")
    result: Value = value
    if most is not None:
        result = mixed.chosen(make("gt", value, most), most, value)
    if least is None:
        return result
    instead = least if most is None else mixed.chosen(make("gt", least, most), most, least)
    return mixed.chosen(make("lt", value, least), instead, result)


def _number(loop: Loop, name: str) -> Expr | Either:
    """The element, which must be a number, of one type or of two."""
    return loop.element if isinstance(loop.element, Either) else scalar(loop, name)


def _where(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    holds = lower(bool if given["f"] is None else given["f"], loop.element, loop.env, predicate=True)
    condition = cast(Expr, holds.result)
    effects, spans = list(holds.effects), dict(holds.spans)
    if callable(given["other"]):
        instead = lower(given["other"], loop.element, loop.env)
        other = instead.result
        fails = make("not", condition)
        for path, node in instead.effects:
            effects.append((fails if path is None else make("select", fails, path, const(False)), node))
        spans |= instead.spans
    else:
        value = _number(loop, "where")
        other = mixed.by_sides(value, lambda side: _alike(given["other"], side, "where"))
    result = mixed.chosen(condition, loop.element, other)
    _mapped(loop, site, Fn(loop.element, result, tuple(effects), site.text, site.span, spans))


def _astype(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    value = _number(loop, "astype")
    try:
        found: np.dtype[Any] = np.dtype(given["dtype"])
    except TypeError as error:
        reraise_signal(error)
        raise NotCompilable(f"`astype` is given {value_text(given['dtype'])}, which is no dtype") from None
    if found == np.dtype(np.float32):
        if not isinstance(value, Expr):
            value = scalar(loop, "astype to float32")  # raises
        _mapped(loop, site, Fn(loop.element, convert(value, FLOAT32), (), site.text, site.span))
    elif found in (np.dtype(bool), np.dtype(float)):
        _mapped(loop, site, _as(loop, site, bool if found.kind == "b" else float))
    elif found.kind in "iu":
        whole = _as(loop, site, int)
        _mapped(loop, site, whole if given["dtype"] is int else _within(whole, np.iinfo(found)))
    else:
        raise NotCompilable(f"elements of type {found} are left to Python")


def _as(loop: Loop, site: StageSite, type_: type) -> Fn:
    return replace(lower(type_, loop.element, loop.env), text=site.text, span=site.span)


def _within(fn: Fn, limits: Any) -> Fn:
    """The function, with Python asked for elements whose result has no place in the type."""
    result = cast(Expr, fn.result)
    lowest, highest = int(limits.min), int(limits.max)
    if highest < 1 << 63:
        inside = make("and", make("ge", result, const(lowest)), make("le", result, const(highest)))
    else:  # no int64 is beyond it, but what is computed in two words may be
        inside = make("eq", make("shr", result, const(64)), const(0))
    # A division by False is what the guards know; Python raises what it has to say of the element.
    check = make("floordiv", const(1), make("bool_to_int", inside))
    return replace(fn, effects=(*fn.effects, (None, check)))


def _alike(number: object, value: Expr, name: str) -> Expr:
    """A constant of the elements' kind; a bool stays one."""
    if not isinstance(number, Expr) and type(number) not in (bool, int, float, np.float64, np.float32):
        raise NotCompilable(f"`{name}` is given {value_text(number)}, which is no number")
    node = cast(Expr, known(number, f"the number given to {name}"))
    plain = (INT,) if value.type.is_float else ()
    weak = (*plain, FLOAT) if value.type is FLOAT32 else plain
    return convert(node, value.type) if node.type in weak else node


def _tap(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    raise NotCompilable("`tap` looks at the elements: observation prevents optimisation")


# Sinks


def sink(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """Every sink without arguments."""
    for name in given.keys() - {"rest"}:
        raise NotCompilable(f"`{site.name}` with `{name}` is left to Python")
    if isinstance(loop.element, Complex) and site.name not in ("count", "to_list"):
        _complex_sink(loop, site)
        return
    if isinstance(loop.element, Either) and site.name not in ("count", "to_list"):
        _mixed_sink(loop, site, loop.element)
        return
    if isinstance(loop.element, tuple) and site.name not in ("count", "to_list"):
        raise NotCompilable(f"`{site.name}` of tuples is left to Python")
    ends(loop, site, site.name)


def _complex_sink(loop: Loop, site: StageSite) -> None:
    match site.name:
        case "sum" | "mean":
            ends(loop, site, site.name)
        case "prod":
            ends(loop, site, "complex_prod")
        case "any" | "all":
            _mapped(loop, site, _as(loop, site, bool))
            ends(loop, site, site.name)
        case _:
            raise NotCompilable(no_order(site.name, loop.element))


def _mixed_sink(loop: Loop, site: StageSite, element: Either) -> None:
    """Sinks of numbers of two types: those whose value does not depend on the order in which they are combined."""
    types = element.low.type, element.high.type
    if site.name in ("any", "all"):
        _mapped(loop, site, _as(loop, site, bool))
    elif types == (BOOL, INT) and site.name in ("sum", "mean", "prod"):
        _mapped(loop, site, _as(loop, site, int))
    elif types[0] is not INT or types[1] is FLOAT32 or site.name not in MIXED_SINKS:
        scalar(loop, site.name)  # raises
    ends(loop, site, site.name)


def _total(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """A sum or product from a number on: of ints as a `reduce` in any order; of floats it is added to their sum."""
    begun = rules_scan.begins_with(loop)
    if not begun:
        sink(loop, site, given)
        return
    value, (start,) = scalar(loop, site.name), begun
    if type(start) is int and value.type.is_integral:
        if value.type is BOOL:
            _mapped(loop, site, _as(loop, site, int))
        ends(loop, site, "reduce_add" if site.name == "sum" else "reduce_mul")
    elif isinstance(given["start"], Expr):
        raise NotCompilable(f"`{site.name}` begins with a number that keeps changing: it is to be a constant")
    elif site.name == "sum" and may_begin(start) and value.type is not FLOAT32:
        if value.type.is_integral:
            _mapped(loop, site, _as(loop, site, float))
        ends(loop, site, "sum")
    else:
        raise NotCompilable(f"`{site.name}` from {value_text(start)} on is left to Python")
    loop.initial = begun


def may_begin(start: object) -> bool:
    """Whether adding it to a sum of floats is adding them to it, but for rounding: not -0.0, which a sum's 0 hides."""
    if type(start) is int:
        return abs(start) <= _EXACT
    return type(start) is float and not (start == 0 and math.copysign(1, start) < 0)


_EXACT = 1 << 53
"""Ints that are floats."""


def _extreme(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    scalar(loop, site.name)
    if loop.filtered:
        raise Cut  # an element's number is that among those that are left
    ends(loop, site, site.name)


def _optimum(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """The smallest or largest element; by a key the first one of which that is, whose number a first loop finds.

    A default is what there is where nothing is left, which is known when the loop has run.
    """
    if "default" in given and isinstance(loop.element, Either):
        raise NotCompilable(
            f"`{site.name}` of {mixed.described(loop.element)} with `default` is left to Python"
        )
    if given.get("key") is None:
        sink(loop, site, {name: value for name, value in given.items() if name not in ("key", "default")})
        return
    if loop.filtered or loop.tail:
        raise Cut
    fn = lower(given["key"], loop.element, loop.env, (loop.element,))
    if not isinstance(fn.result, Expr):
        raise NotCompilable(f"`{site.name}` by keys that are no numbers of one type is left to Python")
    if not loop.most():
        raise NotCompilable(f"`{site.name}` of no elements is left to Python")
    key = make("bool_to_int", fn.result) if fn.result.type is BOOL else fn.result
    keyed = replace(fn, result=key, text=site.text, span=site.span)
    rules_order.only(loop, loop.asked((Stage("map", site.text, site.span, keyed),), f"arg{site.name}"))
    ends(loop, site, "first")


def _var(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    value = _number(loop, site.name)
    if isinstance(value, Either) and (value.low.type, value.high.type is FLOAT32) != (INT, False):
        scalar(loop, site.name)  # raises
    ddof = given.get("ddof", 0)
    if type(ddof) not in (int, float):
        raise NotCompilable(f"`ddof` is {value_text(ddof)}, which is no number")
    center = loop.asked((), "mean")
    type_ = FLOAT32 if isinstance(value, Expr) and value.type is FLOAT32 else FLOAT64
    source = loop.env.number(f"mean for {site.name}", center, type_, loop.whole.count or 0)
    loop.add(Stage("zip", site.text, site.span, None, (source,)), (structure(value), type_))
    pair = cast("tuple[Expr | Either, Expr]", loop.element)
    distance = cast(Expr, mixed.by_sides(pair[0], lambda side: make("sub", side, pair[1])))
    fn = Fn(pair, make("mul", distance, distance), (), site.text, site.span)
    _mapped(loop, site, fn)
    ends(loop, site, site.name, ddof)


def _dot(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    if not isinstance(loop.element, Complex):
        scalar(loop, "dot")
    loop.needs_position()
    other = loop.env.source(given["other"])
    if loop.length() != other.length:
        raise NotCompilable(f"`dot` of {loop.length()} and {other.length} elements is left to Python")
    _zipped(loop, site, (given["other"],))
    _mapped(loop, site, lower(operator.mul, loop.element, loop.env))
    loop.even = True
    ends(loop, site, "sum")


def _bincount(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    type_ = scalar(loop, "bincount").type
    if not type_.is_integral:
        raise NotCompilable("`bincount` counts integers")
    if type_ is BOOL and loop.env.numpy_numbers:
        raise NotCompilable(BOOLS_BESIDE_NUMPY)
    ends(loop, site, "bincount")


RULES: dict[str, Rule] = {
    "map": _map, "filter": _filter, "zip": _zip, "enumerate": _enumerate, "astype": _astype, "clip": _clip,
    "where": _where, "take": rules_order.take, "drop": rules_order.drop, "take_while": rules_order.take_while,
    "drop_while": rules_order.drop_while, "reverse": rules_order.reverse, "step": rules_order.step,
    "window": rules_order.window, "chunk": rules_order.chunk, "tap": _tap, "reduce": rules_scan.reduce,
    "scan": rules_scan.scan, "cumsum": rules_scan.cumsum,
    "first": rules_order.first, "last": rules_order.last, "argmin": _extreme, "argmax": _extreme,
    "sum": _total, "prod": _total,
    "min": _optimum, "max": _optimum, "var": _var, "std": _var, "dot": _dot, "bincount": _bincount,
}  # fmt: skip
"""Sinks without arguments need no rule of their own."""
