"""A fused loop as whole-array NumPy calls, one temporary per operation: what a NumPy user would write.

    %1 = mul %0, 3                  t1 = t0 * 3
    total = sum %1 where %2         total = t1[t2].sum()

What only elements under a mask need is computed from the elements that the mask keeps.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hastega_magic.errors import HastegaError
from hastega_magic.interval import INT64
from hastega_magic.ir.expr import INVARIANT, Expr, Value, is_const, leaf, make, postorder
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.pipeline import ELEMENT_SINKS, MIXED_SINKS
from hastega_magic.ir.sinks import EXTREMES, spread
from hastega_magic.ops import OPS
from hastega_magic.records import dataclass
from hastega_magic.runtime import python_stages
from hastega_magic.runtime.python import elements
from hastega_magic.runtime.results import assembled
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT, Composite, Either, ScalarType

Array = npt.NDArray[Any]

_DTYPES: Mapping[ScalarType, Any] = {
    BOOL: np.bool_, INT: np.int64, FLOAT: np.float64, FLOAT64: np.float64, FLOAT32: np.float32,
}  # fmt: skip
_REDUCTIONS: Mapping[str, np.ufunc] = {
    "prod": np.multiply, "min": np.minimum, "max": np.maximum,
    "any": np.logical_or, "all": np.logical_and,
    "reduce_add": np.add, "reduce_mul": np.multiply, "reduce_min": np.minimum, "reduce_max": np.maximum,
    "reduce_and": np.bitwise_and, "reduce_or": np.bitwise_or, "reduce_xor": np.bitwise_xor,
}  # fmt: skip


_KNOWN_SINKS: Mapping[str, Callable[[Any], object]] = {
    name: python_stages.SINKS[name] for name in ("first", "last", "bincount")
}  # fmt: skip


class NoNumpyForm(HastegaError):
    """The loop has an operator that NumPy has no call for; one sentence."""


def run_fused_numpy(fused: Fused, columns: Sequence[Array], tables: Sequence[Array] = ()) -> list[object]:
    """Run the loop over one-dimensional columns, one per source; the shortest ends it. A result for each output.

    "array" gives an array (int64, float64, float32, bool; tuples: structured, fields f0, f1, ...),
    "to_list" a list, reductions a Python scalar (np.float32 over float32). int64 wraps as NumPy does, float
    sums are NumPy's own, and nothing is raised for divisions by zero. NoNumpyForm where an operator has no
    NumPy call.
    """
    plan = _planned(fused.outputs)
    with np.errstate(all="ignore"):
        return plan.run(_Data(columns, tables))


@lru_cache(64)
def _planned(outputs: tuple[Output, ...]) -> _Plan:
    """The calls for the outputs; a NumPy user has them in the source, so their order costs no time there."""
    plan = _Plan()
    for output in outputs:
        plan.context_of(output.mask)
    for number, output in sorted(enumerate(outputs), key=lambda each: each[1].mask is not None):
        plan.add(number, output)
    return plan


@dataclass(frozen=True)
class _Context:
    """The elements of `parent` (None: of the loop) for which the mask holds."""

    parent: _Context | None
    mask: Expr


_Key = tuple[Expr, _Context | None]
"""A node's value over the elements of a context."""


def _key(node: Expr, context: _Context | None) -> _Key:
    return node, None if node.op in INVARIANT else context


@lru_cache(1024)
def _varying(mask: Expr) -> Expr:
    """The mask as a node that is an array, whatever it is made of."""
    if any(node.op in ("load", "index") for node in postorder([mask])):
        return mask
    index = leaf("index", INT)
    return make("and", mask, make("eq", index, index))


class _Data:
    """What leaves stand for."""

    def __init__(self, columns: Sequence[Array], tables: Sequence[Array]) -> None:
        self.length = min((len(column) for column in columns), default=0)
        self._columns = columns
        self._tables = tables

    def leaf(self, node: Expr) -> Any:
        """The leaf over the whole loop: an array, or a number that does not vary."""
        slot = node.value if isinstance(node.value, int) else 0
        match node.op:
            case "const":
                if node.type is INT and slot not in INT64:
                    raise NoNumpyForm(f"the constant {slot} does not fit in 64 bits")
                return _DTYPES[node.type](node.value)
            case "load":
                return np.asarray(self._columns[slot])[: self.length].astype(_DTYPES[node.type], copy=False)
            case "table":
                return np.asarray(self._tables[slot]).astype(_DTYPES[node.type], copy=False)
            case "length":
                return np.int64(len(self._tables[slot]))
            case "index":
                return np.arange(self.length)
            case _:
                raise NoNumpyForm(f"NumPy has no call for {node.op}")


@dataclass(frozen=True)
class _Step:
    """One call: what it gives (a node's value, or an output by its number) from which values."""

    gives: _Key | int
    needs: tuple[_Key, ...]
    call: Callable[..., Any]


class _Plan:
    """The calls in order; `done` holds the values that earlier steps give."""

    def __init__(self) -> None:
        self._steps: list[_Step] = []
        self._done: set[_Key] = set()

    def context_of(self, mask: Expr | None) -> _Context | None:
        """The mask's elements. A later filter's predicate is computed over what the earlier ones keep."""
        chain: list[Expr] = []
        while mask is not None and mask.op == "select" and is_const(mask.args[2], False):
            chain.append(mask.args[1])
            mask = mask.args[0]
        context: _Context | None = None
        for each in reversed([*chain, mask] if mask is not None else chain):
            varying = _varying(each)
            self._demand(_key(varying, context))
            context = _Context(context, varying)
        return context

    def add(self, number: int, output: Output) -> None:
        """The calls for an output."""
        context = self.context_of(output.mask)
        # The mask says how many elements there are, also where the value does not vary.
        extent = () if context is None else (_key(context.mask, context.parent),)
        if output.sink.kind == "count":
            self._steps.append(_Step(number, extent, _count))
            return
        keys = [_key(node, context) for node in _scalars(output.value)]
        for key in keys:
            self._demand(key)
        self._steps.append(_Step(number, (*keys, *extent), _finish(output, len(keys))))

    def run(self, data: _Data) -> list[object]:
        """Make the calls; a temporary is dropped after its last use."""
        uses = Counter(key for step in self._steps for key in step.needs)
        values: dict[_Key, Any] = {}
        results: dict[int, object] = {}
        for step in self._steps:
            made: Any = step.call(data, *(values[key] for key in step.needs))
            for key in step.needs:
                uses[key] -= 1
                if not uses[key]:
                    values.pop(key, None)
            if isinstance(step.gives, int):
                shared = any(made is other for other in results.values() if isinstance(other, np.ndarray))
                results[step.gives] = made.copy() if shared else made
            else:
                values[step.gives] = made
            del made
        return [results[number] for number in sorted(results)]

    def _demand(self, root: _Key) -> None:
        stack = [root]
        while stack:
            key = stack[-1]
            if key in self._done:
                stack.pop()
                continue
            step = self._step(key)
            missing = [need for need in step.needs if need not in self._done]
            if missing:
                stack.extend(reversed(missing))
            else:
                self._steps.append(step)
                self._done.add(key)
                stack.pop()

    def _step(self, key: _Key) -> _Step:
        node, context = key
        if context is not None and (not node.args or (node, context.parent) in self._done):
            return _Step(key, (_key(node, context.parent), _key(context.mask, context.parent)), _kept)
        return _Step(key, tuple(_key(arg, context) for arg in node.args), _call(node))


def _minimum(a: Array, b: Array) -> Array:
    return np.where(b < a, b, a)


def _maximum(a: Array, b: Array) -> Array:
    return np.where(b > a, b, a)


def _gather(table: Array, index: Array) -> Array:
    try:
        return table[index]
    except IndexError:  # of an element on the other branch, perhaps
        return table[np.clip(index, 0, len(table) - 1)]


_SPECIAL: Mapping[str, Callable[..., Any]] = {
    "min": _minimum,
    "max": _maximum,
    "gather": _gather,
}


def _call(node: Expr) -> Callable[..., Any]:
    """What computes the node from the data and its operands' values."""
    if not node.args:

        def load(data: _Data) -> Any:
            return data.leaf(node)

        return load
    if node.op in ("turns", "result"):
        raise NoNumpyForm("NumPy has no call for a loop over each element by itself")
    function = _SPECIAL.get(node.op) or OPS[node.op].numpy
    if function is None:
        raise NoNumpyForm(f"NumPy has no call for {node.op}")

    def call(_: _Data, *operands: Any) -> Any:
        return function(*operands)

    return call


def _kept(data: _Data, value: Any, mask: Any) -> Any:
    """Boolean indexing; a number that does not vary stays as it is."""
    return value if np.ndim(value) == 0 else value[mask]


def _count(data: _Data, mask: Array | None = None) -> int:
    return data.length if mask is None else int(np.count_nonzero(mask))


def _finish(output: Output, number: int) -> Callable[..., object]:
    """The last call of an output: over the data, `number` values, and the mask if there is one."""

    def call(data: _Data, *values: Any) -> object:
        size = _count(data, *values[number:])
        columns = [np.full(size, value) if np.ndim(value) == 0 else value for value in values[:number]]
        kind = output.sink.kind
        if isinstance(output.value, Either) and kind in MIXED_SINKS:
            raise NoNumpyForm(f"NumPy has no {kind} of ints and floats among each other")
        if kind in ("var", "std"):
            return spread(kind, _reduced("sum", columns[0]), size, output.sink.ddof)
        if kind not in ELEMENT_SINKS and not isinstance(output.value, Composite):
            return _reduced(kind, columns[0])
        result = _assembled(output.value, iter(columns))
        if kind not in ELEMENT_SINKS or kind == "complex_prod":
            return _reduced(kind.removeprefix("complex_"), result)
        if kind == "to_list":
            return list(elements(result))
        if kind == "cumsum":
            sums = np.cumsum(result)
            if sums.dtype.kind in "fc":
                sums += 0  # Python begins with it: 0 + -0.0 is 0.0
            return sums
        if kind in ("scan", "fold"):
            raise NoNumpyForm("NumPy has no call for a function of the value so far")
        if kind in ("first", "last", "bincount"):
            return _KNOWN_SINKS[kind](result if kind == "bincount" else elements(result))
        aliased = isinstance(output.value, Expr) and output.value.op == "load"
        return result.copy() if aliased else result

    return call


def _assembled(value: Value, columns: Iterator[Array]) -> Array:
    if isinstance(value, Expr):
        return next(columns)
    parts = [_assembled(part, columns) for part in value]
    return assembled(value, parts)


def _reduced(kind: str, column: Array) -> object:
    if column.dtype == np.bool_ and kind not in ("any", "all", "min", "max"):
        column = column.astype(np.int64)  # Python counts with bools
    if kind == "mean" and not len(column):
        raise statistics.StatisticsError("mean requires at least one data point")
    if kind in ("sum", "mean"):
        total = _python(column.sum()) if len(column) else 0
        return total / len(column) if kind == "mean" else total
    if kind == "prod" and not len(column):
        return 1
    if kind in ("first_index", "last_index"):
        return _python(column[0 if kind == "first_index" else -1]) if len(column) else None
    if kind in EXTREMES and column.dtype.kind == "f" and np.isnan(column).any():
        raise NoNumpyForm(f"NumPy gives NaN for the {kind} of numbers with a NaN among them")
    if kind in ("argmin", "argmax"):
        if not len(column):
            raise ValueError(f"{kind} of no elements")
        return int(column.argmin() if kind == "argmin" else column.argmax())
    found = _REDUCTIONS[kind].reduce(column)
    if kind in EXTREMES and column.dtype.kind == "f" and found == 0:
        found = column[np.flatnonzero(column == 0)[0]]  # Python keeps the first of equals
    return _python(found)


def _python(number: Any) -> Any:
    return number if number.dtype == np.float32 else number.item()


def _scalars(value: Value) -> list[Expr]:
    return [value] if isinstance(value, Expr) else [node for part in value for node in _scalars(part)]
