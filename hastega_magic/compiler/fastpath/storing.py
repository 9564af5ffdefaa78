"""From the elements that a loop stored, called directly or on all threads, to the value that the statement gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hastega_magic.compiler.fastpath.direct_result import DirectResult, Stored
from hastega_magic.compiler.fastpath.slots import DoesNotFit
from hastega_magic.compiler.python.last_chunk import is_safe
from hastega_magic.compiler.python.nested import dtype_of, nested
from hastega_magic.compiler.python.recover import assembled
from hastega_magic.compiler.statement import Loop
from hastega_magic.ir.expr import Expr, Value, structure
from hastega_magic.ir.fused import Output
from hastega_magic.records import changed
from hastega_magic.runtime.objects.boxes import listed
from hastega_magic.runtime.results import in_one, item
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.types import Complex, Either

if TYPE_CHECKING:
    from hastega_magic.passes.guard import Variant

_Left = DirectResult | Stored

Put = Callable[[_Left], object]
"""From the stored elements to the value; DoesNotFit where another way has to find that."""


def storing(output: Output, loop: Loop, bodies: Sequence[Variant] = ()) -> Put:
    """How the statement's value is made of them."""
    kind, fn = output.sink.kind, output.sink.fn
    made = output.value if fn is None else fn.result
    one = isinstance(made, Expr)
    if loop.built.tail:
        return partial(_with_tail, output, loop, bodies)
    match kind:
        case "to_list" if one:
            return _listed
        case "to_list" if _is_tuple_of_numbers(made):
            return _tuples
        case "first" | "last" if one:
            return _first
        case "fold":
            return lambda left: item(_only(nested(made, iter(left.arrays))))
        case "scan" | "affine" | "cumsum":
            return _array if one else lambda left: nested(made, iter(left.arrays))
        case "array" if loop.bound.site.stages[-1].name != "astype":
            return _array if one else _records(made)
        case _:
            return partial(_assembled, output, loop)


def _is_tuple_of_numbers(value: Value) -> bool:
    if isinstance(value, (Expr, Complex, Either)):
        return False
    return all(isinstance(part, Expr) for part in value)


def _array(left: _Left) -> object:
    return left.arrays[0]


def _records(made: Value) -> Put:
    """An array of elements of several numbers."""
    dtype = dtype_of(structure(made))

    def gathered(left: _Left) -> object:
        records = in_one(left.arrays)
        return nested(made, iter(left.arrays)) if records is None else records.view(dtype)

    return gathered


def _listed(left: _Left) -> object:
    return listed(left.arrays[0])


def _tuples(left: _Left) -> object:
    return list(zip(*map(listed, left.arrays), strict=True))


def _first(left: _Left) -> object:
    return item(_only(left.arrays[0]))


def _with_tail(output: Output, loop: Loop, bodies: Sequence[Variant], left: _Left) -> object:
    """The same, unless the last, shorter chunk may need an integer beyond 64 bits, of which the usual way tells."""
    now = changed(loop, source=left.operands[0], built=changed(loop.built, view=left.view, tail=left.tail))
    if left.tail and not is_safe(now, bodies):
        raise DoesNotFit
    return _assembled(output, loop, left)


def _assembled(output: Output, loop: Loop, left: _Left) -> object:
    """As of any number of elements."""
    pairs = zip(loop.bound.site.stages, left.displays, strict=True)
    stages = tuple(BoundStage(site, callee, args, kwargs) for site, (callee, args, kwargs) in pairs)
    built = changed(loop.built, view=left.view, tail=left.tail)
    now = changed(loop, source=left.operands[0], stages=stages, built=built)
    if output.sink.kind in ("first", "last") and not len(left.arrays[0]):
        raise DoesNotFit
    if left.tail and loop.built.numpys:  # which Python computes from arrays that may be others now
        raise DoesNotFit
    return assembled(output, left.arrays, now)


def _only(array: AnyArray) -> Any:
    if not len(array):
        raise DoesNotFit
    return array[0]


__all__ = ["storing"]
