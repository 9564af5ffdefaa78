"""A group's statements computed by CPython, though they are compiled: where that is sooner done.

Only where Python's values are those of the loop, to the last bit, and nothing can go wrong: no guard, no float
reduction (the loop's has an order of its own), no elementary function (off by one place at most), nothing of NumPy's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.loops import CompiledLoop
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.interval import INT64, Interval
from hastega_magic.ir.expr import Expr, flatten
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.kernel import Assume
from hastega_magic.ir.loop import everything
from hastega_magic.ops import OPS
from hastega_magic.runtime import python
from hastega_magic.runtime.sources import Column
from hastega_magic.runtime.special_methods import has
from hastega_magic.syntax.closures.numpy_read import numpy_read
from hastega_magic.types import FLOAT32, INT, Complex

_STORED = frozenset({"array", "to_list"})
_ALWAYS = frozenset({"sum", "prod", "count", "any", "all"})
"""Reductions that have a value without any element, too."""

_OTHERWISE = frozenset({"min", "max"})
_NUMBERED = frozenset({"argmin", "argmax"})


class NotAlike(Exception):
    """Python's value might not be the loop's after all."""


def python_values(loops: Sequence[Loop], workspace: Workspace) -> list[object]:
    """The values of the loops' statements, by the user's own functions; raises what they raise.

    NotAlike for a result without elements, whose type only the loop knows.
    """
    named: dict[str, object] = {}
    values: list[object] = []
    for loop in loops:
        source = loop.pipeline.source
        value = named[source.name] if source.kind == "result" else workspace.column(source).data
        others = iter(loop.pipeline.others)
        calls: list[python.StageCall] = []
        for name, callee, args, kwargs in loop.bound.calls(loop.stages):
            used = [workspace.column(next(others)).data for _ in args] if name == "zip" else args
            calls.append((name, callee, used, kwargs))
        found: Any = python.run(value, calls)
        if has(found, "__len__") and not len(found):
            raise NotAlike
        named[loop.name] = found  # a name may be assigned twice
        values.append(found)
    return values


def alike(compiled: CompiledLoop, mode: str) -> tuple[Assume, ...] | None:
    """What the sources have to be for Python to give the very same values; None where it may give others.

    Asked once for a structure, which several loops may have.
    """
    unguarded = [body for body in compiled.variants.bodies if not body.guards]
    return unguarded[-1].assumes if mode != "wrap" and unguarded and same_bits(compiled.fused) else None


def same_bits(fused: Fused, ordinary: bool = False) -> bool:
    """Whether what Python gives, where it raises nothing, is the same to the last bit.

    `ordinary`: of ordinary code, which may have loops of its own, and reductions in the order of its elements.
    """
    if not all(_exact(each) or (ordinary and _in_order(each)) for each in fused.outputs):
        return False
    for node in computed_by(fused):
        row = OPS.get(node.op)
        if (
            node.type is FLOAT32
            or (row is not None and "approximate" in row.traits)
            or (node.op == "turns" and not ordinary)
        ):
            return False
    return True


def computed_by(fused: Fused) -> Iterable[Expr]:
    """The nodes of a loop, and of what its reductions do with an element."""
    steps = (each.sink.fn for each in fused.outputs if each.sink.kind == "fold")
    return everything(
        [*fused.roots(), *(node for fn in steps if fn is not None for node in flatten(fn.result))]
    )


def _in_order(output: Output) -> bool:
    """Whether a `reduce` gives what Python gives: an element after the other, or in any order, of ints."""
    kind = output.sink.kind
    if _complex(output.value):
        return False
    of_ints = kind.startswith("reduce_") and not any(node.type.is_float for node in flatten(output.value))
    return kind == "fold" or of_ints


def fits(assumes: Sequence[Assume], columns: Sequence[Column], loops: Sequence[Loop], mode: str) -> bool:
    """Whether the sources are so, the stages common ones, and nothing of NumPy's is read; asked for every run."""
    if not all(map(_plain, loops)):
        return False
    if numpy_read([each for loop in loops for stage in loop.stages for each in stage.args]):
        return False
    for each in assumes:
        assert isinstance(each.load.value, int)
        if not _within(columns[each.load.value], each.interval):
            return False
    lists = (each for each in columns if each.source.kind == "list" and each.source.type is INT)
    return mode != "checked" or all(_within(each, INT64) for each in lists)


def _within(column: Column, interval: Interval) -> bool:
    least, most = _ends(column.data)
    return int(least) in interval and int(most) in interval


def _ends(data: Any) -> tuple[Any, Any]:
    """The smallest and the largest of the numbers."""
    if type(data) is range:
        return min(data[0], data[-1]), max(data[0], data[-1])
    return (data.min(), data.max()) if isinstance(data, np.ndarray) else (min(data), max(data))


def _exact(output: Output) -> bool:
    kind = output.sink.kind
    if _complex(output.value):
        return False
    if kind in _STORED or (kind in _NUMBERED and output.mask is None):
        return True
    if kind in _ALWAYS or (kind in _OTHERWISE and output.mask is None):
        return kind == "count" or not any(node.type.is_float for node in flatten(output.value))
    return False


def _complex(value: object) -> bool:
    """Whether there are complex numbers in the element: pairs, which flattening takes apart."""
    if isinstance(value, Complex):
        return True
    return isinstance(value, tuple) and any(map(_complex, cast("tuple[object, ...]", value)))


def _plain(loop: Loop) -> bool:
    built = loop.built
    complexes = any(source.parts for source in loop.pipeline.sources)
    named = all(stage.callee is None and not stage.kwargs for stage in loop.stages)
    return (
        built.plain and not built.tail and not built.initial and named and not complexes and loop.scalars is None
        and all(stage.site.name in _STAGES for stage in loop.stages)
        and all(source.kind != "result" for source in loop.pipeline.others)
    )  # fmt: skip


_STAGES = frozenset({"map", "filter", "zip", "enumerate"}) | _STORED | _ALWAYS | _OTHERWISE


__all__ = ["NotAlike", "alike", "computed_by", "fits", "python_values", "same_bits"]
