"""Operators inside functions, over numbers of one type or two, complex numbers, and tuples."""

from __future__ import annotations

import ast
import sys

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.syntax.operations import complex_numbers, lists
from hastega_magic.syntax.operations.arithmetic import BINARY, UNARY, power
from hastega_magic.syntax.values import mixed
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import Symbolic, number
from hastega_magic.types import BOOL, FLOAT32, Complex, Either


def unary(graph: Graph, op: ast.unaryop, value: Symbolic) -> Symbolic:
    """The operator over a number."""
    if isinstance(value, Either):
        return mixed.distributed(graph, (value,), lambda sides: unary(graph, op, *sides))
    if isinstance(value, Complex):
        return complex_numbers.unary(graph, UNARY[type(op)], value)
    if isinstance(op, ast.Invert):
        return inverted(graph, number(value))
    return graph.make(UNARY[type(op)], value)


_WARNS_OF_BOOLS = sys.version_info >= (3, 12)


def inverted(graph: Graph, value: Expr) -> Expr:
    """`~`; comparisons of float32 numbers are NumPy's. NotCompilable where Python warns of it for each element."""
    if value.type is BOOL:
        graph.of_bools = True
        numpys = any(node.type is FLOAT32 for node in postorder((value,)))
        graph.numpy = graph.numpy or numpys
        if _WARNS_OF_BOOLS and not numpys:
            raise NotCompilable("Python warns of `~` of a bool, which is an int: `not` may be what is meant")
    return graph.make("invert", value)


def binary(graph: Graph, op: ast.operator, left: Symbolic, right: Symbolic) -> Symbolic:
    """The operator over two values; tuples may be concatenated."""
    if isinstance(left, Either) or isinstance(right, Either):
        return mixed.distributed(graph, (left, right), lambda sides: binary(graph, op, *sides))
    if complex_numbers.is_complex(left, right) and type(op) in (*BINARY, ast.Pow):
        return complex_numbers.binary(graph, BINARY.get(type(op), "pow"), left, right)
    if isinstance(op, ast.Pow):
        return power(graph, number(left), number(right))
    if isinstance(op, ast.Add) and isinstance(left, tuple) and isinstance(right, tuple):
        return left + right
    if isinstance(op, ast.Add) and (found := lists.joined(graph, left, right)) is not None:
        return found
    if isinstance(op, ast.Mult) and (found := lists.repeated(graph, left, right)) is not None:
        return found
    if type(op) not in BINARY:
        raise NotCompilable("`@` is not compiled")
    return graph.make(BINARY[type(op)], left, right)
