"""Ordinary code over NumPy's scalars: what type each value has by NumPy's rules, and where its values are not Python's.

    [x * 3 for x in xs]        elements of an int32 array: np.int32, computed as Python's int, and checked to be one
                               that int32 holds; where it is not, NumPy wraps and warns, and does so itself

The loop computes as always. A value that NumPy would compute otherwise (wrapped, with a warning, by a rule of its own)
is trouble (`ops/checks.py`), or a reason to leave all of it to Python. Types come from NumPy itself: an operator is
tried on a scalar of each type.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import (
    Expr,
    Value,
    const,
    flatten,
    leaf,
    make,
    map_value,
    postorder,
    rebuild,
)
from hastega_magic.ir.pipeline import FIRST_PARAMETER, Fn, Pipeline, Sink, Source, Stage
from hastega_magic.ops import OPS
from hastega_magic.ops.row import math_float
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL, FLOAT32, INT, Composite, ScalarType

Kind = type[Any]
"""Of a value: int, float, bool, or a class of NumPy's scalars."""

Kinds = Any
"""A Kind, or a tuple of Kinds for an element that is a tuple."""

_PYTHON: dict[ScalarType, Kind] = {BOOL: bool, INT: int}
_DISGUISED = frozenset({"bool_to_int", "int_to_float", "exact_float", "to_float32", "to_float64"})
"""Conversions of operands, which NumPy does as it computes."""

_FLOATS = frozenset({"add", "sub", "mul", "truediv", "sqr", "floordiv", "mod", "float_pow", "half_power"})
"""Operators of floats that warn where a result is not finite and the operands are."""

_PASSING = frozenset({"neg", "pos", "abs"})
_ABSORBING = frozenset({"add", "sub", "mul", "sqr"}) | _PASSING
"""What is not finite, or not a number, stays so in these."""

_INTS = frozenset(
    {"add", "sub", "mul", "neg", "abs", "floordiv", "mod", "invert", "shl", "shr", "and", "or", "xor"}
)
_OTHERS = frozenset({
    "eq", "ne", "lt", "le", "gt", "ge", "pos", "min", "max", "int", "floor_int", "ceil_int", "round_int", "isnan",
    "isinf", "isfinite",
})  # fmt: skip
_LEAVES = 2
"""A result may be NaN because so many floats are; of more this is not looked at."""


@dataclass(frozen=True)
class Scalars:
    """What a loop over NumPy's scalars gives: `kinds` of an element of its result, or of its value.

    `most`: over how many elements at most the loop may run (None: any number). `filtered`: there may be none.
    `summed`: the value is a sum.
    """

    kinds: Kinds
    most: int | None = None
    filtered: bool = False
    summed: bool = False


def by_numpys_rules(
    pipeline: Pipeline, kind_of: Callable[[Source], Kind], tables: Sequence[Kind], length: int
) -> tuple[Pipeline, Scalars]:
    """The pipeline with its checks, and what it gives.

    `kind_of`: of a source's elements; `tables`: of the elements of the captured arrays, by slot. NotCompilable with
    the reason where NumPy's result would be another, or is not known.
    """
    if any(map(_complex, (pipeline.source, *pipeline.stages))):
        raise NotCompilable("NumPy's complex numbers are left to NumPy")
    kinds: Kinds = kind_of(pipeline.source)
    stages: list[Stage] = []
    for stage in pipeline.stages:
        match stage.kind:
            case "zip":
                kinds = (kinds, *map(kind_of, stage.sources))
            case "enumerate":
                kinds = (int, kinds)
            case "map" | "filter":
                assert stage.fn is not None
                fn, found = _Rules(stage.fn, kinds, tables).changed(stage.kind == "map")
                stage = replace(stage, fn=fn)  # noqa: PLW2901
                kinds = found if stage.kind == "map" else kinds
            case _:
                raise NotCompilable(f"`{stage.kind}` over NumPy's scalars is left to NumPy")
        stages.append(stage)
    filtered = any(stage.kind == "filter" for stage in stages)
    if pipeline.sink.fn is not None:
        _keep_types(pipeline.sink.fn, kinds, tables)
    stages, result = _ended(pipeline.sink, stages, kinds, length)
    return replace(pipeline, stages=tuple(stages)), replace(result, filtered=filtered)


def _keep_types(fn: Fn, element: Kinds, tables: Sequence[Kind]) -> None:
    """NotCompilable where the value so far becomes one of NumPy's, or is computed otherwise by NumPy's rules."""
    begun = map_kinds(lambda node: _PYTHON.get(node.type, float), cast("tuple[Value, Value]", fn.params)[0])
    changed, found = _Rules(fn, (begun, element), tables).changed(True)
    same = flatten(changed.result) == flatten(fn.result) and set(changed.effects) <= set(fn.effects)
    if not same or list(_flat(found)) != list(_flat(begun)):
        raise NotCompilable(
            "the value so far would be computed by the rules of NumPy's scalars: NumPy does it"
        )


def _complex(part: Source | Stage) -> bool:
    """Whether complex numbers take part."""
    if isinstance(part, Source):
        return bool(part.parts)
    return any(map(_complex, part.sources)) or (part.fn is not None and _holds_complex(part.fn.result))


def _holds_complex(value: Value) -> bool:
    return isinstance(value, Composite) or (isinstance(value, tuple) and any(map(_holds_complex, value)))


def _ended(sink: Sink, stages: list[Stage], kinds: Kinds, length: int) -> tuple[list[Stage], Scalars]:
    """The stages and the result's kind with the sink."""
    if sink.kind in ("any", "all", "count"):
        return stages, Scalars(int if sink.kind == "count" else bool)
    if any(each is None for each in _flat(kinds)):
        raise NotCompilable("the result would be Python's for some elements and NumPy's for others")
    if sink.kind in ("array", "to_list") or not is_numpy(kinds):
        return stages, Scalars(kinds)
    if sink.kind in ("min", "max"):
        return stages, Scalars(kinds)
    if sink.kind != "sum":
        raise NotCompilable(f"`{sink.kind}` of elements of type {_named(kinds)} is left to NumPy")
    if kinds is np.float32:
        raise NotCompilable(
            "a sum of float32 rounds at every step, in the order of the elements: NumPy computes it"
        )
    total = _tried("add", (0, kinds(1)))
    if _is_int(kinds):
        bits = length.bit_length()
        limits: Any = np.iinfo(kinds)
        added = _within(kinds, int(limits.min) >> bits if limits.min else 0, int(limits.max) >> bits, sink)
        return [*stages, added], Scalars(total, (1 << bits) - 1, summed=True)
    return stages, Scalars(total, summed=True)


def _within(kind: Kind, least: int, most: int, sink: Sink) -> Stage:
    """A stage that lets elements pass whose sum cannot leave the type, whatever their order."""
    element = leaf("param", INT, 0)
    fn = Fn(element, make("fits", element, const(least), const(most)), (), sink.text, sink.span)
    return Stage("map", sink.text, sink.span, fn)


def is_numpy(kinds: Kinds) -> bool:
    """Whether it is a class of NumPy's scalars."""
    return isinstance(kinds, type) and issubclass(kinds, np.generic)


@dataclass
class _Rules:
    """One function. A kind of None: one of several; only a condition may be so."""

    fn: Fn
    element: Kinds
    tables: Sequence[Kind]
    kinds: dict[Expr, Kind | None] = field(default_factory=dict[Expr, "Kind | None"])
    new: dict[Expr, Expr] = field(default_factory=dict[Expr, Expr])

    def changed(self, of_map: bool) -> tuple[Fn, Kinds]:
        """The function with its checks, and the kind of its result if that matters."""
        fn = self.fn
        pairs = zip(flatten(fn.params), _flat(self.element), strict=True)
        parameters = dict(pairs)
        always = _always(flatten(fn.result))
        kept = [(path, node) for path, node in fn.effects if node not in always]
        effects = [node for pair in kept for node in pair if node is not None]
        nodes = list(postorder([*flatten(fn.result), *effects]))
        for node in nodes:
            self.kinds[node] = parameters[node] if node in parameters else self._kind(node)
        results = map_kinds(lambda node: self._result(node, of_map), fn.result)
        seen = self._seen(nodes, {*flatten(fn.result), *effects})
        for node in nodes:
            self.new[node] = self._checked(node, node in seen)
        changed = replace(
            fn,
            result=map_value(lambda node: self.new[node], fn.result),
            effects=tuple((path and self.new[path], self.new[node]) for path, node in kept),
            spans={self.new.get(node, node): spans for node, spans in fn.spans.items()},
        )
        return changed, results

    def _result(self, node: Expr, matters: bool) -> Kind | None:
        kind = self.kinds[node]
        if matters and kind is not None:
            _same_type(kind, node.type)
        return kind

    # Kinds

    def _kind(self, node: Expr) -> Kind | None:
        """By NumPy's rules, from those of the operands."""
        if node.op == "const":
            return _PYTHON.get(node.type, float)
        if node.op in ("length", "index"):
            return int
        if node.op == "param" and cast(int, node.value) >= FIRST_PARAMETER:
            return int if node.type is INT else float
        if node.op == "gather":
            return self.tables[cast(int, node.args[0].value)]
        if node.op == "table":
            return int
        if node.op not in OPS:
            raise NotCompilable("a loop in a function over NumPy's scalars is left to NumPy")
        given = [self.kinds[arg] for arg in node.args]
        if node.op in ("own", "not", "truth"):
            return _PYTHON.get(node.type, float)
        if node.op in _DISGUISED or node.op == "wrapping_add":  # of an index, which counts from the end
            return given[0]
        if node.op == "wrapping_mul":  # of an index into an array of several dimensions
            return int
        if node.op == "select":
            return self._either(node, given[1:])
        if node.type is BOOL and node.op in ("and", "or") and given[0] is not given[1]:
            return None
        if None in given:
            raise NotCompilable("a value would be Python's for some elements and NumPy's for others")
        return self._of_operator(node, cast("list[Kind]", given))

    def _either(self, node: Expr, given: Sequence[Kind | None]) -> Kind | None:
        """The kind of a value that is one of two."""
        if given[0] is given[1]:
            return given[0]
        if node.type is BOOL:
            return None
        names = " and ".join(sorted(_named(kind) for kind in given))
        raise NotCompilable(
            f"a value would be of one type for some elements and of another for others: {names}"
        )

    def _of_operator(self, node: Expr, given: list[Kind]) -> Kind | None:
        if not any(map(is_numpy, given)):
            return _PYTHON.get(node.type, float)
        row = OPS[node.op]
        if row.signature is math_float:
            return float
        if node.op not in _FLOATS | _PASSING | _INTS | _OTHERS:
            raise NotCompilable(f"`{node.op}` of NumPy's scalars is left to NumPy")
        if node.op in ("min", "max") and self._either(node, given) is None:
            return None
        pairs = [(_bare(arg), kind) for arg, kind in zip(node.args, given, strict=True)]
        if np.float32 in given and any(kind is float and arg.op != "const" for arg, kind in pairs):
            raise NotCompilable("a Python float beside NumPy's float32 is left to NumPy")
        operands: list[Any] = [arg.value if arg.op == "const" else kind(1) for arg, kind in pairs]
        refused = node.op == "float_pow" and operands[1] < 0 and operands[1] % 1 == 0
        if refused and not issubclass(given[0], (float, np.floating)):
            raise NotCompilable("NumPy refuses to take its ints to negative powers")
        kind = _tried(node.op, tuple(operands))
        _same_type(kind, node.type)
        return kind

    # Checks

    def _computed(self, node: Expr) -> bool:
        """Whether the node is a float that NumPy computes, and may have warned of."""
        kind = self.kinds[node]
        if not is_numpy(kind) or not node.type.is_float:
            return False
        if node.op == "to_float32":
            return False
        return node.op in _FLOATS or (node.op in _PASSING and self._computed(node.args[0]))

    def _seen(self, nodes: Iterable[Expr], roots: set[Expr]) -> set[Expr]:
        """Nodes that are used where it would be lost that they are not finite."""
        found = {node for node in roots if self._computed(node)}
        for node in nodes:
            for place, arg in enumerate(node.args):
                absorbs = node.op in _ABSORBING or (node.op == "truediv" and place == 0)
                if self._computed(arg) and not (absorbs and self._computed(node)):
                    found.add(arg)
        return found

    def _checked(self, node: Expr, seen: bool) -> Expr:
        if node.op == "own":
            return self.new[node.args[0]]
        kind = self.kinds[node]
        args = [self.new[arg] for arg in node.args]
        if kind is not None and _is_int(kind) and node.op in _INTS:
            args = [self._fitting(arg, new, kind) for arg, new in zip(node.args, args, strict=True)]
        made = rebuild(node, tuple(args))
        if seen:
            return make("finite", made, self._excuse(node))
        if kind is not None and _is_int(kind) and node.op in _INTS:
            return _held(made, kind)
        return made

    def _fitting(self, arg: Expr, new: Expr, kind: Kind) -> Expr:
        """A Python int beside NumPy's ints becomes one of them."""
        return new if self.kinds[arg] is not int or arg.op == "const" else _held(new, kind)

    def _excuse(self, node: Expr) -> Expr:
        """Whether the floats that the node is computed from are all NaN: no warning is given then."""
        leaves: dict[Expr, None] = {}
        todo = [node]
        while todo:
            each = todo.pop()
            if self._computed(each) and each.op in _ABSORBING | {"truediv"}:
                todo += each.args
            elif each.type.is_float and each.op not in ("const", "int_to_float", "exact_float"):
                leaves[each] = None
        if not leaves or len(leaves) > _LEAVES or any(self._computed(each) for each in leaves):
            return const(False)
        tests = [make("ne", self.new[each], self.new[each]) for each in leaves]
        return functools.reduce(lambda a, b: make("and", a, b), tests)


def _always(results: Iterable[Expr]) -> set[Expr]:
    """The nodes that every element evaluates for its result."""
    found: set[Expr] = set()
    todo = list(results)
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += node.args[:1] if node.op == "select" else node.args
    return found


def _is_int(kind: Kind) -> bool:
    return bool(issubclass(kind, np.integer))


def _named(kind: Kind | None) -> str:
    if kind is None:
        return "bool"
    return f"np.{kind.__name__}" if is_numpy(kind) else kind.__name__


def _bare(node: Expr) -> Expr:
    while node.op in _DISGUISED:
        node = node.args[0]
    return node


def _held(node: Expr, kind: Kind) -> Expr:
    """The int, of which the type must hold it: as NumPy's own it would wrap."""
    limits: Any = np.iinfo(cast(Any, kind))
    return make("fits", node, const(int(limits.min)), const(min(int(limits.max), (1 << 63) - 1)))


def _same_type(kind: Kind, type_: ScalarType) -> None:
    """NotCompilable where NumPy's result is of another kind of number than the loop's."""
    if kind in (bool, np.bool_):
        fits = type_ is BOOL
    elif _is_int(kind) or kind is int:
        fits = type_ is INT
    elif kind is np.float32:
        fits = type_ is FLOAT32
    else:
        fits = kind in (float, np.float64) and type_.is_float and type_ is not FLOAT32
    if not fits:
        raise NotCompilable(
            f"a value is of type {_named(kind)}, where the loop computes another: NumPy computes it"
        )


def _tried(op: str, operands: tuple[Any, ...]) -> Kind:
    """The kind of an operator's result: NumPy is asked."""
    function = cast("Callable[..., Any]", pow if op == "float_pow" else OPS[op].python)
    try:
        with np.errstate(all="raise"):
            return cast("Kind", type(function(*operands)))
    except Exception as error:
        raise NotCompilable(f"NumPy refuses an operator: {error}") from None


def map_kinds(function: Callable[[Expr], Kind | None], value: Value) -> Kinds:
    """The kinds of an element's scalars, in its shape."""
    return function(value) if isinstance(value, Expr) else tuple(map_kinds(function, part) for part in value)


def _flat(kinds: Kinds) -> tuple[Kind | None, ...]:
    if not isinstance(kinds, tuple):
        return (kinds,)
    return tuple(each for part in cast("tuple[Kinds, ...]", kinds) for each in _flat(part))


__all__ = ["Kind", "Kinds", "Scalars", "by_numpys_rules", "is_numpy"]
