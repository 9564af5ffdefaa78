"""One function by the rules of NumPy's scalars: the type of each value, and checks where its values are not Python's.

A value that NumPy would compute otherwise (wrapped, with a warning, by a rule of its own) is trouble
(`ops/checks.py`), or a reason to leave all of it to Python. Types come from NumPy itself: an operator is tried on a
scalar of each type.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, Value, const, flatten, make, map_value, postorder, rebuild
from hastega_magic.ir.pipeline import FIRST_PARAMETER, Fn
from hastega_magic.ops import OPS
from hastega_magic.ops.convert import NUMPY_INTEGERS
from hastega_magic.ops.row import math_float
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL, FLOAT32, INT, ScalarType

Kind = type[Any]
"""Of a value: int, float, bool, or a class of NumPy's scalars."""

Kinds = Any
"""A Kind, or a tuple of Kinds for an element that is a tuple."""

PYTHON: dict[ScalarType, Kind] = {BOOL: bool, INT: int}
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
    "isinf", "isfinite", "np_larger", "np_smaller",
})  # fmt: skip
_LEAVES = 2
"""A result may be NaN because so many floats are; of more this is not looked at."""


def is_numpy(kinds: Kinds) -> bool:
    """Whether it is a class of NumPy's scalars."""
    return isinstance(kinds, type) and issubclass(kinds, np.generic)


@dataclass
class Rules:
    """One function. A kind of None: one of several; only a condition may be so."""

    fn: Fn
    element: Kinds
    tables: Sequence[Kind]
    kinds: dict[Expr, Kind | None] = field(default_factory=dict[Expr, "Kind | None"])
    new: dict[Expr, Expr] = field(default_factory=dict[Expr, Expr])

    def changed(self, of_map: bool) -> tuple[Fn, Kinds]:
        """The function with its checks, and the kind of its result if that matters.

        NotCompilable with the reason where NumPy is to compute it.
        """
        fn = self.fn
        pairs = zip(flatten(fn.params), flat(self.element), strict=True)
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
            return PYTHON.get(node.type, float)
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
            return PYTHON.get(node.type, float)
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
        names = " and ".join(sorted(named(kind) for kind in given))
        raise NotCompilable(
            f"a value would be of one type for some elements and of another for others: {names}"
        )

    def _of_operator(self, node: Expr, given: list[Kind]) -> Kind | None:
        if not any(map(is_numpy, given)):
            return PYTHON.get(node.type, float)
        row = OPS[node.op]
        if row.signature is math_float:
            return float
        if node.op == "fsqrt":  # which a method of NumPy's takes, of what is not negative
            return given[0]
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
        kind = tried(node.op, tuple(operands))
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
        if kind is not None and is_int(kind) and node.op in _INTS:
            args = [self._fitting(arg, new, kind) for arg, new in zip(node.args, args, strict=True)]
        made = rebuild(node, tuple(args))
        if seen:
            return make("finite", made, self._excuse(node))
        if kind is not None and is_int(kind) and node.op in _INTS:
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


def is_int(kind: Kind) -> bool:
    """Whether it is a class of NumPy's integers."""
    return issubclass(kind, NUMPY_INTEGERS)


def named(kind: Kind | None) -> str:
    """How sentences call it; None is only of conditions."""
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
    elif is_int(kind) or kind is int:
        fits = type_ is INT
    elif kind is np.float32:
        fits = type_ is FLOAT32
    else:
        fits = kind in (float, np.float64) and type_.is_float and type_ is not FLOAT32
    if not fits:
        raise NotCompilable(
            f"a value is of type {named(kind)}, where the loop computes another: NumPy computes it"
        )


def tried(op: str, operands: tuple[Any, ...]) -> Kind:
    """The kind of an operator's result: NumPy is asked. NotCompilable where it refuses."""
    function = cast("Callable[..., Any]", pow if op == "float_pow" else OPS[op].python)
    try:
        with np.errstate(all="raise"):
            return cast("Kind", type(function(*operands)))
    except Exception as error:
        raise NotCompilable(f"NumPy refuses an operator: {error}") from None


def map_kinds(function: Callable[[Expr], Kind | None], value: Value) -> Kinds:
    """The kinds of an element's scalars, in its shape."""
    return function(value) if isinstance(value, Expr) else tuple(map_kinds(function, part) for part in value)


def flat(kinds: Kinds) -> tuple[Kind | None, ...]:
    """The kinds of an element's scalars, side by side."""
    if not isinstance(kinds, tuple):
        return (kinds,)
    return tuple(each for part in cast("tuple[Kinds, ...]", kinds) for each in flat(part))


__all__ = ["PYTHON", "Kind", "Kinds", "Rules", "flat", "is_int", "is_numpy", "map_kinds", "named", "tried"]
