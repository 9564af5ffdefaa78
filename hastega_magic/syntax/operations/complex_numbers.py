"""Complex numbers inside functions: pairs of nodes, and what Python's operators make of them.

    z * z + c        (re · re - im · im + c.re,  re · im + im · re + c.im)

Elements of complex64 arrays are NumPy's scalars, whose division rounds once more than Python's and raises nothing.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, Value, const, convert, flatten
from hastega_magic.ops import OPS
from hastega_magic.syntax.operations.arithmetic import as_float
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import Symbolic, number
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT, Complex

_SYMBOLS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_LARGEST_POWER = 100
"""CPython multiplies for exponents up to here, and takes logarithms beyond."""

_SQUARE, _CUBE = 2, 3

_REAL_APART = sys.version_info >= (3, 14)
"""Whether a real operand of Python's stays one, as C99 has it: before, it had the imaginary part 0.0.

Products then also give infinities where both parts would be NaN, which the rows of products leave to Python.
"""


def is_complex(*values: Symbolic) -> bool:
    """Whether one of the values is a complex number."""
    return any(isinstance(value, Complex) for value in values)


def binary(graph: Graph, op: str, left: Symbolic, right: Symbolic) -> Symbolic:
    """An operator of which one operand at least is complex; NotCompilable for those that raise TypeError."""
    if op == "pow":
        return _power(graph, left, right)
    if op in ("eq", "ne"):
        return _equal(graph, op, left, right)
    if op in _BINARY:
        pair = _alike(left, right)
        if _REAL_APART and pair[0].real.type is not FLOAT32 and not (is_complex(left) and is_complex(right)):
            real = as_float(number(right if is_complex(left) else left))
            return _WITH_REAL[op, is_complex(left)](graph, pair[not is_complex(left)], real)
        return _BINARY[op](graph, *pair)
    if op in ("lt", "le", "gt", "ge"):
        numbers = tuple(each for each in (left, right) if isinstance(each, (Expr, Complex)))
        raise NotCompilable(no_order(_SYMBOLS[op], numbers))
    row = OPS.get(op)
    raise NotCompilable(
        f"`{row.symbol if row is not None and row.symbol else op}` of complex numbers: Python raises TypeError"
    )


def no_order(name: str, operands: object) -> str:
    """Why a comparison of complex numbers, or what makes some, is Python's."""
    if any(node.type is FLOAT32 for node in flatten(cast(Value, operands))):
        return f"NumPy's complex64 are compared by their real parts first, and left to Python: `{name}`"
    return f"complex numbers have no order: Python raises TypeError for `{name}`"


def unary(graph: Graph, op: str, value: Complex) -> Symbolic:
    """An operator on a complex number, or its absolute value."""
    if op == "abs":
        return _absolute(graph, value)
    if op not in ("neg", "pos"):
        raise NotCompilable("`~` of a complex number: Python raises TypeError")
    return value if op == "pos" else Complex(graph.make("neg", part) for part in value)


def called(graph: Graph, function: object, args: Sequence[Symbolic]) -> Symbolic:
    """What a builtin or a function of `operator` gives for complex arguments."""
    op = next((op for spelled, count, op in _CALLS if spelled is function and len(args) == count), None)
    if op is not None:
        first, *rest = args
        return binary(graph, op, first, rest[0]) if rest else unary(graph, op, cast(Complex, first))
    name = getattr(function, "__name__", str(function))
    raise NotCompilable(f"`{name}` of complex numbers has no compiled form")


def attribute(graph: Graph, value: Symbolic, name: str) -> Symbolic:
    """`real` or `imag` of a number."""
    if isinstance(value, Complex):
        return value[0 if name == "real" else 1]
    node = number(value)
    whole = INT if graph.counted(node).type is BOOL else node.type
    if name == "real":
        return convert(node, whole)
    if getattr(graph.env, "scalars", None) is not None:
        raise NotCompilable("`imag` of a number has its type, which may be NumPy's: NumPy computes it")
    graph.keep(node)
    return const(0, whole)


def conjugate(graph: Graph, value: Symbolic) -> Symbolic:
    """`value.conjugate()`."""
    if isinstance(value, Complex):
        return Complex((number(value.real), graph.make("neg", value.imag)))
    return attribute(graph, value, "real")


def construct(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`complex(real, imag)`; a complex second argument counts as i times it."""
    if len(args) > _SQUARE:
        raise NotCompilable("`complex` takes at most two arguments")
    pairs = [_python_pair(arg) for arg in args]
    if not pairs:
        return Complex((const(0.0), const(0.0)))
    if len(pairs) == 1:
        return pairs[0]
    if isinstance(args[1], Complex) and any(number(part).type is FLOAT32 for part in args[1]):
        raise NotCompilable("`complex` discards the imaginary part of a second argument of type complex64")
    (a, b), (c, d) = pairs
    real = graph.make("sub", a, d) if is_complex(args[1]) else a
    imag = graph.make("add", c, b) if is_complex(args[0]) else c
    return Complex((real, imag))


def _python_pair(value: Symbolic) -> Complex:
    """The value as a Python complex."""
    if isinstance(value, Complex):
        return Complex(as_float(number(part)) for part in value)
    return Complex((as_float(number(value)), const(0.0)))


# Operators


def _alike(left: Symbolic, right: Symbolic) -> tuple[Complex, Complex]:
    """Both operands as pairs of one width: Python's numbers become complex64 beside NumPy's."""
    types = {part.type for value in (left, right) for part in _parts(value)}
    if FLOAT32 in types and FLOAT64 in types:
        raise NotCompilable("complex numbers of 32 and of 64 bits meet, which is left to Python")
    to = FLOAT32 if FLOAT32 in types else None
    return _pair(left, to), _pair(right, to)


def _parts(value: Symbolic) -> Sequence[Expr]:
    return [number(part) for part in value] if isinstance(value, Complex) else [number(value)]


def _pair(value: Symbolic, to: Any) -> Complex:
    parts = _parts(value)
    found = [convert(part, to or (part.type if part.type.is_float else FLOAT)) for part in parts]
    return Complex(found if len(found) > 1 else (*found, const(0.0, found[0].type)))


def _sum(graph: Graph, left: Complex, right: Complex) -> Complex:
    return Complex(graph.make("add", a, b) for a, b in zip(left, right, strict=True))


def _difference(graph: Graph, left: Complex, right: Complex) -> Complex:
    return Complex(graph.make("sub", a, b) for a, b in zip(left, right, strict=True))


def _product(graph: Graph, left: Complex, right: Complex) -> Complex:
    (a, b), (c, d) = left, right
    if _REAL_APART and left.real.type is not FLOAT32:
        _not_of_numpy(graph)
        rows = "complex_product_real", "complex_product_imag"
        return Complex(graph.make(row, *left, *right) for row in rows)
    real = graph.make("sub", graph.make("mul", a, c), graph.make("mul", b, d))
    return Complex((real, graph.make("add", graph.make("mul", a, d), graph.make("mul", b, c))))


def _quotient(graph: Graph, left: Complex, right: Complex) -> Complex:
    if left.real.type is FLOAT32:
        return _numpy_quotient(graph, left, right)
    _not_of_numpy(graph)
    rows = "complex_quotient_real", "complex_quotient_imag"
    return Complex(graph.make(row, *left, *right) for row in rows)


def _not_of_numpy(graph: Graph) -> None:
    """Refuse what NumPy has otherwise, where one of its scalars may take part."""
    if graph.numpy:
        raise NotCompilable(
            "elements of a captured array are computed with as NumPy's complex numbers are, which is left to Python"
        )


# Operators of which one operand is real, as Python has them since 3.14


def _sum_with_real(graph: Graph, value: Complex, real: Expr) -> Complex:
    return Complex((graph.make("add", value.real, real), number(value.imag)))


def _without_real(graph: Graph, value: Complex, real: Expr) -> Complex:
    return Complex((graph.make("sub", value.real, real), number(value.imag)))


def _real_without(graph: Graph, value: Complex, real: Expr) -> Complex:
    return Complex((graph.make("sub", real, value.real), graph.make("neg", value.imag)))


def _times_real(graph: Graph, value: Complex, real: Expr) -> Complex:
    return Complex(graph.make("mul", part, real) for part in value)


def _over_real(graph: Graph, value: Complex, real: Expr) -> Complex:
    return Complex(graph.make("truediv", part, real) for part in value)


def _real_over(graph: Graph, value: Complex, real: Expr) -> Complex:
    rows = "real_by_complex_real", "real_by_complex_imag"
    return Complex(graph.make(row, real, *value) for row in rows)


_WITH_REAL: Mapping[tuple[str, bool], Callable[[Graph, Complex, Expr], Complex]] = {
    ("add", True): _sum_with_real, ("add", False): _sum_with_real,
    ("sub", True): _without_real, ("sub", False): _real_without,
    ("mul", True): _times_real, ("mul", False): _times_real,
    ("truediv", True): _over_real, ("truediv", False): _real_over,
}  # fmt: skip
"""By operator, and whether the complex number is its left operand."""


def _numpy_quotient(graph: Graph, left: Complex, right: Complex) -> Complex:
    """As NumPy's scalars have it: by the reciprocal of the divisor; by zero each part by itself."""
    make, one = graph.make, const(1, FLOAT32)
    (a, b), (c, d) = left, right
    x, y = make("fabs", c), make("fabs", d)
    first = make("ge", x, y)
    large, small = make("select", first, c, d), make("select", first, d, c)
    ratio = make("fdiv", small, large)
    factor = make("fdiv", one, make("add", large, make("mul", small, ratio)))

    def of(p: Expr, q: Expr, op: str) -> Expr:
        left = make("select", first, p, make("mul", p, ratio))
        return make("mul", make(op, left, make("select", first, make("mul", q, ratio), q)), factor)

    zero = make("and", make("eq", x, const(0, FLOAT32)), make("eq", y, const(0, FLOAT32)))
    real = make("select", zero, make("fdiv", a, x), of(a, b, "add"))
    return Complex((real, make("select", zero, make("fdiv", b, x), of(b, a, "sub"))))


def _equal(graph: Graph, op: str, left: Symbolic, right: Symbolic) -> Expr:
    """Equal where both parts are; an int is compared with the real part exactly."""
    if not is_complex(left):
        left, right = right, left
    assert isinstance(left, Complex)
    narrow = FLOAT32 in {part.type for part in _parts(left)}
    others = _alike(left, right)[1] if narrow or is_complex(right) else (number(right), const(0.0))
    both = [graph.make(op, *pair) for pair in zip(left, others, strict=True)]
    return graph.make("and" if op == "eq" else "or", both[1], both[0])


def _power(graph: Graph, base: Symbolic, exponent: Symbolic) -> Symbolic:
    """Powers with a small whole number as exponent, by multiplications, as CPython has them."""
    given = [node.value for node in _parts(exponent) if node.op == "const"]
    value: Any = given[0] if given and len(given) == len(_parts(exponent)) and not any(given[1:]) else None
    if not isinstance(base, Complex) or value is None or not _is_small(value):
        raise NotCompilable(
            f"powers of complex numbers are compiled for whole constants up to {_LARGEST_POWER} alone"
        )
    (pair, _), whole = _alike(base, exponent), int(value)
    if pair.real.type is FLOAT32:
        return _numpy_power(graph, pair, whole)
    one = Complex((const(1.0), const(0.0)))
    found, square, rest = one, pair, abs(whole)
    while rest:
        if rest & 1:
            found = _product(graph, found, square)
        rest >>= 1
        if rest:
            square = _product(graph, square, square)
    if whole <= 0:
        found = _quotient(graph, one, found)
    real, imag = found
    return Complex((graph.make("complex_finite", real, imag), graph.make("complex_finite", imag, real)))


def _is_small(value: Any) -> bool:
    return abs(value) <= _LARGEST_POWER and value == int(value)  # a NaN is not, nor an infinity


def _numpy_power(graph: Graph, base: Complex, exponent: int) -> Complex:
    if exponent not in (_SQUARE, _CUBE):
        raise NotCompilable("powers of complex64 are compiled for 2 and 3 alone")
    square = _product(graph, base, base)
    found = square if exponent == _SQUARE else _product(graph, base, square)
    zero = const(0, FLOAT32)
    is_zero = graph.make("and", *(graph.make("eq", part, zero) for part in base))
    return Complex(graph.make("select", is_zero, zero, part) for part in found)


def _absolute(graph: Graph, value: Complex) -> Expr:
    real, imag = (number(part) for part in value)
    if real.type is not FLOAT32:
        return graph.make("complex_abs", real, imag)
    x, y = (graph.make("fabs", convert(part, FLOAT64)) for part in (real, imag))
    root = graph.make("fsqrt", graph.make("add", graph.make("mul", x, x), graph.make("mul", y, y)))
    infinity = const(float("inf"), FLOAT64)
    infinite = graph.make("or", graph.make("eq", x, infinity), graph.make("eq", y, infinity))
    return convert(graph.make("select", infinite, infinity, root), FLOAT32)


_BINARY: Mapping[str, Callable[[Graph, Complex, Complex], Symbolic]] = {
    "add": _sum, "sub": _difference, "mul": _product, "truediv": _quotient,
}  # fmt: skip


_untyped: Any = operator

_CALLS: Sequence[tuple[object, int, str]] = (
    (builtins.abs, 1, "abs"),
    (builtins.pow, 2, "pow"),
    *((getattr(_untyped, name), 1, name) for name in ("abs", "neg", "pos")),
    *((getattr(_untyped, name), 2, name) for name in ("add", "sub", "mul", "truediv", "eq", "ne", "pow")),
)
"""Functions with the number of their arguments, and the operators that they are."""
