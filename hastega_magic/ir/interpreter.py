"""The oracle: what graphs and loops mean, computed by Python's own scalars, element by element.

Evaluation is lazy and in Python's order: of a select only the condition and the branch taken are evaluated,
so that exactly what raises in Python raises here.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.frames import reraise_signal
from hastega_magic.interval import INT64, INT64_MAX, INT64_MIN
from hastega_magic.ir.affine import affine, fits
from hastega_magic.ir.expr import Expr, Value, flatten
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.loop import iteration, operands
from hastega_magic.ir.outputs import FOLDS, ComplexTree, Decision, Elements, FloatTree, Fold, MixedTree
from hastega_magic.ir.pipeline import RUNNING_SINKS
from hastega_magic.ir.scan import running_affine, running_sums
from hastega_magic.ir.seen import Seen, Watch
from hastega_magic.ops import OPS
from hastega_magic.types import BOOL, FLOAT32, INT, Complex, Either, ScalarType

SCALAR: Mapping[ScalarType, Callable[[Any], object]] = {
    type_: {BOOL: bool, INT: int, FLOAT32: np.float32}.get(type_, float) for type_ in ScalarType
}
"""The Python number of a type."""


def evaluate(roots: Iterable[Expr], leaves: Callable[[Expr], object]) -> dict[Expr, object]:
    """The values of the roots and of every node needed for them, in the order of evaluation.

    `leaves` gives the value of a leaf that is no constant: a number; for "table" a sequence of numbers.
    BOOL is bool, INT int (of any size), FLOAT and FLOAT64 float, FLOAT32 np.float32. Exceptions propagate.
    """
    evaluation = _Evaluation(leaves)
    with np.errstate(all="ignore"):
        for root in roots:
            evaluation.demand(root)
    return evaluation.values


def run_fused(
    fused: Fused, columns: Sequence[Sequence[object]], tables: Sequence[Sequence[object]] = ()
) -> dict[str, object]:
    """Run the loop over the columns (one per source; the shortest ends it), by name of the output.

    "array" and "to_list" give lists of Python scalars (nested tuples for tuple values); reductions give
    what Python gives over the same elements, float sums and products by the fixed tree. For each element
    the effects come first, then the outputs in order; `any` and `all` evaluate nothing beyond the element
    that decides.
    """
    results = [_result(output) for output in fused.outputs]
    length = min((len(column) for column in columns), default=0)
    with np.errstate(all="ignore"):
        for index in range(length):
            if results and all(result.decided for result in results):
                break
            element = [column[index] for column in columns]
            evaluation = _Evaluation(_element_leaves(element, tables, index))
            _run_element(fused, evaluation, results)
        return {output.name: result.value() for output, result in zip(fused.outputs, results, strict=True)}


def first_beyond(roots: Iterable[Expr], leaves: Callable[[Expr], object]) -> int | None:
    """The first integer that no int64 holds among the values that the roots need, those of loops' turns among them.

    Steps of Python's own functions (`math.comb`) are none of them.
    """
    evaluation = _Evaluation(leaves)
    with np.errstate(all="ignore"):
        for root in roots:
            evaluation.demand(root)
            if evaluation.beyond is not None:
                return evaluation.beyond
    computed = (value for node, value in evaluation.values.items() if node.args and node.type is INT)
    return next((value for value in computed if isinstance(value, int) and value not in INT64), None)


def element_seen(
    fused: Fused,
    element: Sequence[object],
    tables: Sequence[Sequence[object]],
    index: int,
    most: int,
    kept: int,
) -> tuple[Seen, Exception | None]:
    """As `element_values`, with the first `kept` turns of loops; Unfinished after `most` values in turns."""
    evaluation = _Evaluation(_element_leaves(element, tables, index), Watch(most, kept))
    return evaluation.seen, _tried(fused, evaluation)


def element_values(
    fused: Fused, element: Sequence[object], tables: Sequence[Sequence[object]] = (), index: int = 0
) -> tuple[dict[Expr, object], Exception | None]:
    """The nodes that one element needs, in the order of evaluation, and what the user's operators raise for it.

    `element` holds one value per source. What was evaluated before something is raised is there.
    """
    evaluation = _Evaluation(_element_leaves(element, tables, index))
    error = _tried(fused, evaluation)
    return evaluation.values, error


def _tried(fused: Fused, evaluation: _Evaluation) -> Exception | None:
    with np.errstate(all="ignore"):
        try:
            _run_element(fused, evaluation, [Elements() for _ in fused.outputs])
        except Exception as raised:
            reraise_signal(raised)
            return raised
    return None


class _Evaluation:
    """The values known so far; `demand` adds what a node needs, with its own stack: graphs can be deep."""

    def __init__(self, leaves: Callable[[Expr], object], watch: Watch | None = None) -> None:
        self.seen = Seen()
        self.values = self.seen.values
        self._watch = watch
        self.beyond: int | None = None
        """The first value in turns of loops that left int64."""
        self._leaves = leaves
        self._last: dict[Expr, list[Any]] = {}

    def demand(self, root: Expr) -> Any:
        """The value of the node."""
        values = self.values
        stack = [root]
        while stack:
            node = stack[-1]
            if node in values:
                stack.pop()
                continue
            function = _EAGER.get(node.op)
            if function is None:
                missing = self._step(node)
            else:
                missing = [arg for arg in node.args if arg not in values]
                if not missing:
                    values[node] = SCALAR[node.type](function(*[values[arg] for arg in node.args]))
            if missing:
                stack.extend(reversed(missing))
            else:
                stack.pop()
        return values[root]

    def of(self, value: Value) -> Any:
        """The element's value: a scalar, a complex number, or a tuple of such."""
        if isinstance(value, Expr):
            return self.demand(value)
        if isinstance(value, Either):
            return self.demand(value.high if self.demand(value.test) else value.low)
        parts = [self.of(part) for part in value]
        if not isinstance(value, Complex):
            return tuple(parts)
        return np.complex64(complex(*parts)) if type(parts[0]) is np.float32 else complex(*parts)

    def _step(self, node: Expr) -> list[Expr]:
        """Evaluate the node, or say which operands that needs first."""
        if node.op == "turns":
            missing = [arg for arg in node.args if arg not in self.values]
            if not missing:
                self._last[node] = self._turns(node)
                self.values[node] = False
            return missing
        if node.op == "result":
            if node.args[0] not in self.values:
                return [node.args[0]]
            assert isinstance(node.value, int)
            self.values[node] = self._last[node.args[0]][node.value]
            return []
        if not node.args:
            found = node.value if node.op == "const" else self._leaves(node)
            self.values[node] = found if node.op == "table" else SCALAR[node.type](found)
            return []
        assert node.op == "select"
        condition, yes, no = node.args
        if condition not in self.values:
            return [condition]
        taken = yes if self.values[condition] else no
        if taken not in self.values:
            return [taken]
        self.values[node] = SCALAR[node.type](self.values[taken])
        return []

    def _turns(self, loop: Expr) -> list[Any]:
        """The state after the last turn."""
        body = iteration(loop)
        starts, outside = operands(loop)
        fixed = {leaf: self.values[arg] for leaf, arg in zip(body.outer, outside, strict=True)}
        state: list[Any] = [self.values[arg] for arg in starts]
        while state[0]:
            own = {**fixed, **dict(zip(body.state, state, strict=True))}
            turn = _Evaluation(
                lambda node, own=own: own[node] if node in own else self._leaves(node), self._watch
            )
            if self._watch is not None:
                self._watch.turned(loop, self.seen, turn.seen)
            for condition, node in body.effects:
                if condition is None or turn.demand(condition):
                    turn.demand(node)
            state = [turn.demand(node) for node in body.step]
            if self.beyond is None and not body.inner:
                self.beyond = turn.beyond
                for node, value in turn.values.items() if self.beyond is None else ():
                    if (
                        type(value) is int
                        and not INT64_MIN <= value <= INT64_MAX
                        and node.type is INT
                        and node.args
                    ):
                        self.beyond = value
                        break
        return state


def apply(op: str, operands: Sequence[Any]) -> object:
    """What a node with these operands is; of a select the condition is none of them."""
    return operands[0] if op == "select" else _EAGER[op](*operands)


def _gather(table: Sequence[Any], place: int) -> object:
    if place < 0:  # counting from the end is spelled out before
        raise IndexError("index out of range")
    return table[place]


_EAGER: dict[str, Callable[..., Any]] = {
    **{name: row.python for name, row in OPS.items() if name != "select"},
    "gather": _gather,
}
"""Operators of which all operands are evaluated."""


def _element_leaves(
    element: Sequence[object], tables: Sequence[Sequence[object]], index: int
) -> Callable[[Expr], object]:
    def value_of(node: Expr) -> object:
        slot = node.value if isinstance(node.value, int) else 0
        match node.op:
            case "load":
                return element[slot]
            case "index":
                return index
            case "table":
                return tables[slot]
            case "length":
                return len(tables[slot])
            case _:
                raise KeyError(f"a loop has no {node.op}")

    return value_of


class _Running(Elements):
    """Running sums, or a function of the value so far and each element: all of its values, or the last."""

    def __init__(self, output: Output) -> None:
        super().__init__()
        self._output = output
        self._begun = output.init is not None
        self._total: Any = None
        self._start: Any = None
        self._affine = None if output.mask is not None or output.sink.fn is None else affine(output.sink.fn)
        self._added: list[Any] = []
        self._given: dict[Expr, Any] = {}

    def begin(self, evaluation: _Evaluation) -> None:
        """The starting value, and what the function is given beside."""
        self._given = {node: evaluation.of(load) for node, load in self._output.given}
        if self._begun and self._total is None and self._output.init is not None:
            self._total = self._start = evaluation.of(self._output.init)

    def add(self, value: Any, taken: bool) -> None:
        if not taken:
            return
        fn = self._output.sink.fn
        added = value
        if fn is not None and self._begun:
            parts = (part for each in (self._total, value) for part in _parts(each))
            leaves = dict(zip(flatten(fn.params), parts, strict=True)) | self._given
            value = _Evaluation(leaves.__getitem__).of(fn.result)
            if self._affine is not None and self._affine.offset is not None:
                added = evaluate([self._affine.offset], leaves.__getitem__)[self._affine.offset]
        self._added.append(added)
        self._begun, self._total = True, value
        self.values.append(value)

    def value(self) -> object:
        if self._output.sink.kind == "fold":
            if not self._begun:
                functools.reduce(max, ())  # raises
            return self._total
        if self._output.sink.kind == "scan" or not self.values:
            return self._in_rows() or self.values
        if isinstance(self.values[0], int):
            return list(itertools.accumulate(self.values))
        found: Any = np.array(self.values)
        if found.dtype.kind != "c":
            found = running_sums(found)
        else:
            found.real, found.imag = running_sums(found.real), running_sums(found.imag)
        return list(found) if np.isfinite(found).all() else _in_order(self.values)

    def _in_rows(self) -> list[Any] | None:
        """An affine scan; None for others, and where rows do not give a result."""
        if self._affine is None or self._output.sink.kind != "scan":
            return None
        try:
            factor: Any = _Evaluation(self._given.__getitem__).of(self._affine.factor)
        except ArithmeticError as error:
            reraise_signal(error)
            return None
        if not fits(factor):
            return None
        start = -0.0 if self._start is None else self._start
        found = running_affine(np.array(self._added), factor, start, self._affine.doubtful)
        return None if found is None else found.tolist()


def _in_order(values: Sequence[Any]) -> list[Any]:
    """Running sums, one element after the other; a sum begins with 0."""
    with np.errstate(all="ignore"):
        return list(itertools.accumulate(values, initial=0))[1:]


def _parts(value: Any) -> tuple[Any, ...]:
    """The numbers of an element."""
    if isinstance(value, tuple):
        return tuple(part for each in cast("tuple[Any, ...]", value) for part in _parts(each))
    return (value.real, value.imag) if type(value) in (complex, np.complex64) else (value,)


def _result(output: Output) -> Elements:
    kind = output.sink.kind
    if kind in ("array", "to_list"):
        return Elements()
    if kind in RUNNING_SINKS:
        return _Running(output)
    if kind in ("any", "all"):
        return Decision(until=kind == "any")
    trees = kind in ("sum", "prod", "mean", "var", "std")
    if kind in ("sum", "mean") and isinstance(output.value, Complex):
        return ComplexTree(kind, flatten(output.value)[0].type)
    if kind in ("sum", "mean") and isinstance(output.value, Either):
        return MixedTree(kind)
    if trees and isinstance(output.value, Expr) and output.value.type.is_float:
        return FloatTree(kind, output.value.type, output.sink.ddof)
    return Fold(FOLDS[kind])


def _run_element(fused: Fused, evaluation: _Evaluation, results: Sequence[Elements]) -> None:
    for effect in fused.effects:
        if effect.mask is None or evaluation.demand(effect.mask):
            evaluation.demand(effect.node)
    for output, result in zip(fused.outputs, results, strict=True):
        if isinstance(result, _Running):
            result.begin(evaluation)
        if not result.decided:
            taken = output.mask is None or evaluation.demand(output.mask)
            value: Any = evaluation.of(output.value) if taken else None
            if taken and output.weights:
                value = sum(map(operator.mul, output.weights, value))
            result.add(value, taken)
