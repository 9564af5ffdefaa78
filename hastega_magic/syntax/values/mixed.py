"""Numbers of two types: an int for some elements, say, and a float for others.

    1 / x if x else 0        (x != 0,  0,  1 / x if x != 0 else 0.0)

Operators apply to both numbers, each under the condition that it is the value. Where both results have one type, one
select is left: `(1 / x if x else 0) * 2.0` is a float.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, cast

from hastega_magic.errors import MixedTypes, NotCompilable
from hastega_magic.ir.expr import Expr, Value, const, made_like, make
from hastega_magic.syntax.values.branches import choice, eager, opposite
from hastega_magic.syntax.values.values import FALSE, TRUE, Symbolic
from hastega_magic.types import BOOL, INT, Composite, Either, ScalarType

_MOST = 3
"""Independent conditions that operands of one operator may have: the operator is applied for each combination."""


class Chooser(Protocol):
    """What evaluates under conditions, and chooses between values: the graph."""

    def choose(self, condition: Expr, yes: Symbolic, no: Symbolic) -> Symbolic:
        """One of two values of the same shape."""
        ...

    def under(self, condition: Expr) -> AbstractContextManager[None]:
        """What is evaluated meanwhile is evaluated only where the condition holds."""
        ...


def rank(type_: ScalarType) -> int:
    """0 for bools, 1 for ints, 2 for floats: types that Python tells apart in a result."""
    return 0 if type_ is BOOL else 1 if type_ is INT else 2


def chosen(condition: Expr, yes: Value, no: Value) -> Value:
    """One of two values of the same shape; of numbers of two types an Either. MixedTypes for what is neither."""
    if isinstance(yes, Expr) and isinstance(no, Expr) and rank(yes.type) == rank(no.type):
        return yes if yes is no else make("select", condition, yes, no)
    if _is_number(yes) and _is_number(no):
        return _either(condition, yes, no)
    if isinstance(yes, tuple) and isinstance(no, tuple) and type(yes) is type(no) and len(yes) == len(no):
        return made_like(yes, [chosen(condition, *pair) for pair in zip(yes, no, strict=True)])
    raise MixedTypes("the result would be of one type for some elements and of another for others")


def _is_number(value: Value) -> bool:
    return isinstance(value, (Expr, Either))


def _either(condition: Expr, yes: Value, no: Value) -> Value:
    ranks = sorted({rank(node.type) for value in (yes, no) for node in _numbers(value)})
    if len(ranks) > 2:
        raise MixedTypes("the result would be a bool, an int or a float, depending on the element")
    tests = [_test(value, ranks[1]) for value in (yes, no)]
    low, high = (_one_of(condition, _of_rank(yes, each), _of_rank(no, each)) for each in ranks)
    return _made(choice(condition, *tests), low, high)


def _numbers(value: Value) -> tuple[Expr, ...]:
    return (value,) if isinstance(value, Expr) else cast("tuple[Expr, ...]", value[1:])


def _test(value: Value, high: int) -> Expr:
    """Whether the value is of the higher type."""
    if isinstance(value, Expr):
        return TRUE if rank(value.type) == high else FALSE
    return cast(Expr, value[0])


def _of_rank(value: Value, wanted: int) -> Expr | None:
    return next((node for node in _numbers(value) if rank(node.type) == wanted), None)


def _one_of(condition: Expr, yes: Expr | None, no: Expr | None) -> Expr:
    if yes is None or no is None or yes is no:
        found = yes or no
        assert found is not None
        return found
    return make("select", condition, yes, no)


def _made(test: Expr, low: Expr, high: Expr) -> Value:
    """The number whose parts raise nothing, and overflow nowhere, where they are not the value."""
    if test.op == "const":
        return high if test.value else low
    safe_low = low if eager(low) else make("select", test, zero(low.type), low)
    return Either((test, safe_low, high if eager(high) else make("select", test, high, zero(high.type))))


def zero(type_: ScalarType) -> Expr:
    """What stands for a number that is not there."""
    return const(False) if type_ is BOOL else const(0, type_)


def lifted(value: Value, like: Value) -> Value:
    """A number of one type as one of two, where `like` is such and has this one; tuples item by item."""
    if isinstance(like, Either) and isinstance(value, Expr):
        low, high = cast("tuple[Expr, Expr]", like[1:])
        if rank(value.type) == rank(high.type):
            return Either((TRUE, zero(low.type), value))
        return Either((FALSE, value, zero(high.type))) if value.type is low.type else value
    if (
        isinstance(like, tuple)
        and isinstance(value, tuple)
        and type(like) is type(value)
        and len(like) == len(value)
    ):
        return made_like(like, [lifted(*pair) for pair in zip(value, like, strict=True)])
    return value


def is_mixed(*values: Symbolic) -> bool:
    """Whether one of the values is a number of two types, or a tuple that holds one."""
    return any(True for _ in _tests(values))


def _tests(values: Sequence[Symbolic]) -> Iterator[Expr]:
    for value in values:
        if isinstance(value, Either):
            yield value.test
        elif isinstance(value, tuple) and not isinstance(value, Composite):
            yield from _tests(value)


def distributed(
    graph: Chooser, values: Sequence[Symbolic], rule: Callable[[Sequence[Symbolic]], Symbolic]
) -> Symbolic:
    """What the rule makes of the values, with numbers of two types once as the one and once as the other."""
    tests = list(dict.fromkeys(_tests(values)))
    if not tests:
        return rule(values)
    if len(tests) > _MOST:
        raise NotCompilable("more than three numbers take part that are of one type or another each")
    test = tests[0]
    with graph.under(test):
        high = distributed(graph, [_side(value, test, True) for value in values], rule)
    with graph.under(opposite(test)):
        low = distributed(graph, [_side(value, test, False) for value in values], rule)
    return graph.choose(test, high, low)


def _side(value: Symbolic, test: Expr, high: bool) -> Symbolic:
    if isinstance(value, Either):
        return value if value.test is not test else value.high if high else value.low
    if isinstance(value, tuple) and not isinstance(value, Composite):
        return tuple(_side(part, test, high) for part in value)
    return value


def described(value: Either) -> str:
    """The elements, in a sentence."""
    return f"{value.low.type.value}s and {value.high.type.value}s among each other"


def by_sides(value: Value, rule: Callable[[Expr], Value]) -> Value:
    """What a rule that raises nothing makes of a number, of each of its two if they are of two types."""
    if isinstance(value, Expr):
        return rule(value)
    assert isinstance(value, Either)
    return chosen(value.test, rule(value.high), rule(value.low))
