"""`sum` and `math.prod` inside functions, over one item after the other as Python goes through them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import const, convert
from hastega_magic.syntax.operations import complex_numbers
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import Symbolic, number
from hastega_magic.types import FLOAT, FLOAT32, Composite

COMPENSATED = sys.version_info >= (3, 12)
"""Whether CPython's `sum` of floats keeps what rounding loses, and adds it at the end."""

_OF_ALL = sys.version_info >= (3, 14)
"""Whether it does so for ints among the floats, too, and for complex numbers."""


def added(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """Total, what rounding has lost so far, and another item: the new total, and what is lost then."""
    if complex_numbers.is_complex(args[0], args[2]):  # nothing is kept any more
        if _OF_ALL:
            raise NotCompilable(
                "`sum` of complex numbers inside a function is compiled up to Python 3.13 alone"
            )
        return complex_numbers.binary(graph, "add", totalled(graph, args[:2]), args[2]), const(0.0)
    total, lost, value = map(number, args)
    if _OF_ALL and total.type.is_float and not value.type.is_float:
        value = convert(value, FLOAT)
    double = all(each.type.is_float and each.type is not FLOAT32 for each in (total, value))
    new = graph.make("add", total, value)
    if not (COMPENSATED and double):
        return new, lost
    larger = graph.make("ge", graph.make("fabs", total), graph.make("fabs", value))
    big, small = graph.choose(larger, total, value), graph.choose(larger, value, total)
    return new, graph.make("add", lost, graph.make("add", graph.make("sub", big, new), small))


def totalled(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """The total with what was lost."""
    if complex_numbers.is_complex(args[0]):
        return args[0]
    total, lost = map(number, args)
    if lost.op == "const" or not total.type.is_float:
        return total
    counts = graph.make("and", graph.make("ne", lost, const(0.0)), graph.make("isfinite", lost))
    return graph.choose(counts, graph.make("add", total, lost), total)


def sum_of_tuple(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """The sum of a tuple's items."""
    if not 1 <= len(args) <= 2 or not isinstance(args[0], tuple) or isinstance(args[0], Composite):
        raise NotCompilable("`sum` of something that is no tuple, generator or `range` is not compiled")
    graph.keep(args[0])
    start = args[1] if len(args) == 2 else const(0)
    total: Symbolic = start if complex_numbers.is_complex(start) else number(start)
    lost: Symbolic = const(0.0)
    for part in args[0]:
        pair = added(graph, (total, lost, part))
        assert isinstance(pair, tuple)
        total, lost = pair
    return totalled(graph, (total, lost))


def product_of_tuple(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """math.prod of a tuple's items."""
    if not 1 <= len(args) <= 2 or not isinstance(args[0], tuple) or isinstance(args[0], Composite):
        raise NotCompilable("`math.prod` of something that is no tuple, generator or `range` is not compiled")
    graph.keep(args[0])
    total = number(args[1]) if len(args) == 2 else const(1)
    for part in args[0]:
        total = graph.make("mul", total, part)
    return total


def product(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """Total and another item: the new total."""
    return graph.make("mul", *args)
