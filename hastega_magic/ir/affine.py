"""Scans whose function multiplies the value so far by a constant and adds something that does not depend on it.

    lambda acc, x: a * x + (1 - a) * acc          factor 1 - a, offset a * x
    lambda acc, x: acc + a * (x - acc)            factor 1 - a, offset a * x

Two such steps in a row are one of the same kind, so that rows of elements can be computed side by side (ir/scan.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hastega_magic.ir.expr import Expr, const, flatten, leaf, make, postorder, python_of, rewrite
from hastega_magic.ir.fused import Output
from hastega_magic.ir.pipeline import FIRST_PARAMETER, Fn, Sink
from hastega_magic.ops import OPS
from hastega_magic.types import FLOAT32, INT

SMALLEST, LARGEST = 2.0**-15, 1.0
"""Between them lies the magnitude of a factor whose powers within a row of rows neither vanish nor grow."""


@dataclass(frozen=True)
class Affine:
    """`factor` times the value so far, plus `offset`; None stands for nothing to add."""

    factor: float
    offset: Expr | None


def affine(fn: Fn) -> Affine | None:
    """What a scan's function over two parameters comes to; None where it is of another kind, or not of floats."""
    found = None if any(map(keeps_changing, postorder(flatten(fn.result)))) else _form(fn)
    return found if found is not None and SMALLEST <= abs(found.factor) <= LARGEST else None


def may_be_affine(fn: Fn) -> bool:
    """Whether it is of that kind for some values of the captured numbers that it reads."""
    roots = flatten(fn.result)
    new = rewrite(roots, _with_any)
    return len(roots) == 1 and _form(replace(fn, result=new[roots[0]])) is not None


def _with_any(node: Expr) -> Expr:
    """Some number for a captured one, and for what is computed of such numbers alone."""
    if keeps_changing(node):
        return const(_ANY if node.type.is_float else _ANY_INT, node.type)
    if node.op not in OPS or not node.args or any(arg.op != "const" for arg in node.args):
        return node
    found = python_of(node)
    return node if found is None else const(found, node.type)


_ANY, _ANY_INT = 0.7310585786300049, 7919
"""Numbers that nobody writes: sums and products of them are neither 0 nor 1 by chance."""


def _form(fn: Fn) -> Affine | None:
    """Factor and offset, whatever the factor is."""
    match fn.params, fn.result:
        case (Expr() as total, Expr() as element), Expr() as result if not fn.effects and total.type.is_float:
            pass
        case _:
            return None
    if FLOAT32 in (result.type, total.type, element.type):
        return None
    found = _parts(result, total)
    if found is None or found.offset is None:
        return None
    return found if all(_plain(node) for node in postorder([found.offset])) else None


def regrouped(output: Output) -> Output | None:
    """A scan as the sink "affine" over what each element adds; None where its function is not of that kind.

    Without a starting value the first element is the first value, to which nothing is added.
    """
    fn, value = output.sink.fn, output.value
    if output.sink.kind != "scan" or fn is None or not isinstance(value, Expr) or output.mask is not None:
        return None
    found = affine(fn)
    if found is None or found.offset is None:
        return None
    element = flatten(fn.params)[1]
    added = rewrite([found.offset], lambda node: value if node is element else node)[found.offset]
    if output.init is None:
        first = make("eq", leaf("index", INT), const(0))
        added = make("select", first, value, added)
    sink = Sink("affine", output.sink.text, output.sink.span, factor=found.factor)
    return replace(output, sink=sink, value=added)


def in_blocks(sink: Sink, floats: bool) -> bool:
    """Whether the value of running floats depends on where blocks begin, so that they have to be full."""
    return floats and (sink.kind == "cumsum" or (sink.fn is not None and affine(sink.fn) is not None))


def keeps_changing(node: Expr) -> bool:
    """Whether it stands for a captured number that is given to the loop."""
    return node.op == "param" and isinstance(node.value, int) and node.value >= FIRST_PARAMETER


def _plain(node: Expr) -> bool:
    """Whether evaluating the node for any element harms nobody."""
    if not node.args:
        return True
    row = OPS.get(node.op)
    return row is not None and row.trouble is None and (row.overflow is None or node.type is not INT)


def _parts(root: Expr, total: Expr) -> Affine | None:
    known: dict[Expr, Affine | None] = {}
    for node in postorder([root]):
        if node is total:
            known[node] = Affine(1.0, None)
        elif all(_free(known[arg]) for arg in node.args):
            known[node] = Affine(0.0, node)
        else:
            known[node] = _combined(node, [known[arg] for arg in node.args])
    return known[root]


def _free(part: Affine | None) -> bool:
    return part is not None and part.factor == 0.0


def _combined(node: Expr, parts: list[Affine | None]) -> Affine | None:
    """A node above the value so far."""
    match node.op, parts:
        case "add", [Affine(p, a), Affine(q, b)]:
            return Affine(p + q, _sum("add", a, b))
        case "sub", [Affine(p, a), Affine(q, b)]:
            return Affine(p - q, _sum("sub", a, b))
        case "neg", [Affine(p, a)]:
            return Affine(-p, None if a is None else make("neg", a))
        case "mul", [Affine(0.0, Expr() as k), Affine(q, b)] if (by := _constant(k)) is not None:
            return Affine(by * q, None if b is None else make("mul", k, b))
        case "mul", [Affine(p, a), Affine(0.0, Expr() as k)] if (by := _constant(k)) is not None:
            return Affine(p * by, None if a is None else make("mul", a, k))
        case "truediv", [Affine(p, None), Affine(0.0, Expr() as k)] if by := _constant(k):
            return Affine(p / by, None)
        case _:
            return None


def _constant(node: Expr) -> float | None:
    return float(node.value) if node.op == "const" and isinstance(node.value, (int, float)) else None


def _sum(op: str, a: Expr | None, b: Expr | None) -> Expr | None:
    if b is None:
        return a
    if a is None:
        return b if op == "add" else make("neg", b)
    return make(op, a, b)


__all__ = [
    "LARGEST", "SMALLEST", "Affine", "affine", "in_blocks", "keeps_changing", "may_be_affine", "regrouped",
]  # fmt: skip
