"""Scans whose function multiplies the value so far by a number and adds something that does not depend on it.

    lambda acc, x: a * x + (1 - a) * acc          factor 1 - a, offset a * x
    lambda acc, x: acc + a * (x - acc)            factor 1 - a, offset a * x

Two such steps in a row are one of the same kind, so that rows of elements can be computed side by side (ir/scan.py).
The number is a constant, or what captured numbers that keep changing come to: the same operations give it then, before
the loop, so that results do not hang on what ran before.

Zeros have signs. Where the value so far is multiplied by a positive number and added to, a zero is negative if all that
came to it is, side by side and one after the other. Other functions turn signs on the way: their rows give zeros that
are `doubtful`, and are then computed in order. What is doubtful follows from the function's shape and the factor
alone, so that captured numbers give the same whether the loop was made for them or takes any.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace

from hastega_magic.ir.expr import Expr, const, flatten, leaf, make, postorder, python_of, rewrite
from hastega_magic.ir.fused import Output
from hastega_magic.ir.pipeline import FIRST_PARAMETER, Fn, Sink
from hastega_magic.ops import OPS
from hastega_magic.records import dataclass
from hastega_magic.types import FLOAT32, INT

SMALLEST, LARGEST = 2.0**-15, 1.0
"""Between them lies the magnitude of a factor whose powers within a row of rows neither vanish nor grow."""


@dataclass(frozen=True)
class Affine:
    """`factor` times the value so far, plus `offset`; None stands for nothing to add.

    The factor is a float: a constant, or a graph over captured numbers that keep changing. `doubtful`: one of DOUBTFUL,
    as the function's shape says; `all_in_doubt` knows the factor too.
    """

    factor: Expr
    offset: Expr | None
    doubtful: str = ""


DOUBTFUL = ("", "negative", "any")
"""Which zeros computed in rows may be of another sign than those computed in order."""


def all_in_doubt(factor: float, doubtful: str) -> bool:
    """Whether all zeros are doubtful, given what follows from the function's shape.

    In `a + k * (x - a)` a factor of 1 hides that `k` may be negative, or a zero.
    """
    return factor < 0 or doubtful == "any" or (doubtful != "" and factor == LARGEST)


def affine(fn: Fn) -> Affine | None:
    """What a scan's function over two parameters comes to; None where it is of another kind, or not of floats."""
    found = _form(fn)
    return found if found is not None and (found.factor.op != "const" or fits(found.factor.value)) else None


def fits(factor: object) -> bool:
    """Whether rows can be computed side by side with it."""
    return isinstance(factor, float) and SMALLEST <= abs(factor) <= LARGEST


def may_be_affine(fn: Fn) -> bool:
    """Whether it is of that kind for some values of the captured numbers that it reads."""
    if len(flatten(fn.result)) != 1:
        return False
    return any(_form(_with_any(fn, taken)) is not None for taken in (True, False))


def _with_any(fn: Fn, taken: bool) -> Fn:
    """The function with some number for each captured one; of branches that these alone decide, one or the other."""

    def change(node: Expr) -> Expr:
        if keeps_changing(node):
            return const(_ANY if node.type.is_float else _ANY_INT, node.type)
        if node.op == "select" and node.args[0].op == "const":
            return node.args[1 if taken else 2]
        if node.op not in OPS or not node.args or any(arg.op != "const" for arg in node.args):
            return node
        found = python_of(node)
        return node if found is None else const(found, node.type)

    new = rewrite(fn.roots(), change)
    effects = [(condition and new[condition], new[node]) for condition, node in fn.effects]
    # What numbers alone decide raises nothing once they are known.
    left = tuple(each for each in effects if not all(map(_plain, postorder([each[1]]))))
    return replace(fn, result=new[flatten(fn.result)[0]], effects=left)


_ANY, _ANY_INT = 0.7310585786300049, 7919
"""Numbers that nobody writes: sums and products of them are neither 0 nor 1 by chance."""

_EXACT = frozenset({"add", "sub", "mul", "truediv", "int_truediv", "neg", "int_to_float", "exact_float"})
"""Operators of a factor that is computed when the loop runs: each has the bits that Python gives."""


def _form(fn: Fn) -> Affine | None:
    """Factor and offset, whatever the factor is."""
    match fn.params, fn.result:
        case (Expr() as total, Expr() as element), Expr() as result if total.type.is_float:
            pass
        case _:
            return None
    if FLOAT32 in (result.type, total.type, element.type):
        return None
    if any(effect != (None, result) for effect in fn.effects):
        return None
    fixed: set[Expr] = set()
    found = _parts(result, total, fixed)
    if found is None or found.factor is None or found.offset is None:
        return None
    plain = all(node in fixed or _plain(node) for node in postorder([found.offset]))
    return Affine(found.factor, found.offset, found.doubtful) if plain else None


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
    new = {flatten(fn.params)[1]: value, **dict(output.given)}
    added = rewrite([found.offset], lambda node: new.get(node, node))[found.offset]
    if output.init is None:
        first = make("eq", leaf("index", INT), const(0))
        added = make("select", first, value, added)
    sink = Sink("affine", output.sink.text, output.sink.span, factor=found.factor, doubtful=found.doubtful)
    return replace(output, sink=sink, value=added)


def in_blocks(sink: Sink, floats: bool) -> bool:
    """Whether the value of running floats depends on where blocks begin, so that they have to be full."""
    return floats and (sink.kind == "cumsum" or (sink.fn is not None and affine(sink.fn) is not None))


def affine_scan(sink: Sink) -> Affine | None:
    """What a scan's function comes to; None for other sinks and other functions."""
    return affine(sink.fn) if sink.kind == "scan" and sink.fn is not None else None


def varies(sink: Sink) -> bool:
    """Whether the sink's function multiplies the value so far by what is known only when the loop runs."""
    found = affine_scan(sink)
    return found is not None and found.factor.op != "const"


def keeps_changing(node: Expr) -> bool:
    """Whether it stands for a captured number that is given to the loop."""
    return node.op == "param" and isinstance(node.value, int) and node.value >= FIRST_PARAMETER


def _plain(node: Expr) -> bool:
    """Whether evaluating the node for any element harms nobody; what is the same for all elements, Python needs too."""
    if not node.args:
        return True
    row = OPS.get(node.op)
    return row is not None and row.trouble is None and (row.overflow is None or node.type is not INT)


@dataclass(frozen=True)
class _Part:
    """A node on the way: so many times the value so far (None: it does not depend on it), plus something.

    `repeated`: the value so far stands in it more than once. `turned`: the sign of a sum may have been turned.
    `led`: the value so far itself is a summand beside one sum that may have been turned, so that for factors below 1
    it is a negative zero only where that is one and so is what is added.
    """

    factor: Expr | None
    offset: Expr | None
    repeated: bool = False
    turned: bool = False
    led: bool = False

    @property
    def doubtful(self) -> str:
        """One of DOUBTFUL."""
        if not self.repeated and not self.turned:
            return ""
        return "any" if self.turned and not self.led else "negative"

    @property
    def is_sum(self) -> bool:
        """Whether something is added to the value so far."""
        return self.factor is not None and (self.offset is not None or self.repeated)


def _parts(root: Expr, total: Expr, fixed: set[Expr]) -> _Part | None:
    """What the root comes to; `fixed` gets what is the same number for all elements."""
    known: dict[Expr, _Part | None] = {}
    for node in postorder([root]):
        if _is_number(node) or (node.op in _EXACT and fixed.issuperset(node.args)):
            fixed.add(node)
        if node is total:
            known[node] = _Part(const(1.0), None, led=True)
        elif all(_free(known[arg]) for arg in node.args):
            known[node] = _Part(None, node)
        else:
            known[node] = _combined(node, [known[arg] for arg in node.args], fixed)
    return known[root]


def _is_number(node: Expr) -> bool:
    return keeps_changing(node) or (node.op == "const" and isinstance(node.value, (int, float)))


def _free(part: _Part | None) -> bool:
    return part is not None and part.factor is None


def _combined(node: Expr, parts: list[_Part | None], fixed: Container[Expr]) -> _Part | None:
    """A node above the value so far."""
    repeated = any(part is not None and part.repeated for part in parts)
    turned = any(part is not None and (part.turned or part.is_sum) for part in parts)
    match node.op, parts:
        case ("add" | "sub") as op, [_Part(p, a) as left, _Part(q, b) as right]:
            repeated |= p is not None and q is not None
            turned = left.turned or right.turned or (op == "sub" and right.is_sum)
            led = (left.led or (op == "add" and right.led)) and not (left.repeated or right.repeated)
            return _Part(_joined(_counted, op, p, q), _joined(make, op, a, b), repeated, turned, led)
        case "neg", [_Part(Expr() as p, a)]:
            return _Part(_counted("neg", p), None if a is None else make("neg", a), repeated, turned)
        case "mul", [_Part(None, Expr() as k), _Part(Expr() as q, b)] if k in fixed:
            return _Part(_counted("mul", k, q), None if b is None else make("mul", k, b), repeated, turned)
        case "mul", [_Part(Expr() as p, a), _Part(None, Expr() as k)] if k in fixed:
            return _Part(_counted("mul", p, k), None if a is None else make("mul", a, k), repeated, turned)
        case "truediv", [_Part(Expr() as p, None), _Part(None, Expr() as k)] if k in fixed and not _is_zero(
            k
        ):
            return _Part(_counted("truediv", p, k), None, repeated, turned)
        case _:
            return None


def _is_zero(node: Expr) -> bool:
    return node.op == "const" and node.value == 0


def _joined(made: Callable[..., Expr], op: str, a: Expr | None, b: Expr | None) -> Expr | None:
    """A sum or difference of what may be nothing."""
    if b is None:
        return a
    if a is None:
        return b if op == "add" else made("neg", b)
    return made(op, a, b)


def _counted(op: str, *args: Expr) -> Expr:
    """The operator over the operands, computed where these are constants."""
    node = make(op, *args)
    found = python_of(node) if all(arg.op == "const" for arg in node.args) else None
    return node if found is None else const(float(found))


__all__ = [
    "DOUBTFUL", "LARGEST", "SMALLEST", "Affine", "affine", "affine_scan", "all_in_doubt", "fits", "in_blocks",
    "keeps_changing", "may_be_affine", "regrouped", "varies",
]  # fmt: skip
