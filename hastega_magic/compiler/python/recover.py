"""Blocks that reported trouble: Python evaluates their elements, raises what it raises, or gives exact values."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hastega_magic.compiler.options import Options
from hastega_magic.compiler.python.blocks import Blocks, Combined, Evaluated, default_of
from hastega_magic.compiler.python.last_chunk import tail
from hastega_magic.compiler.python.nested import nested
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, Value, flatten
from hastega_magic.ir.fused import Output, is_product
from hastega_magic.ir.pipeline import ELEMENT_SINKS, MIXED_SINKS
from hastega_magic.ir.reduction import PROD_NEUTRAL, SUM_NEUTRAL, block_prods, block_sums, complex_product
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.ir.sinks import COMBINE, EXTREMES, spread
from hastega_magic.ops.machine import wrap64
from hastega_magic.records import cached_property, dataclass
from hastega_magic.runtime import python, python_stages, results
from hastega_magic.runtime.loop_result import LoopResult
from hastega_magic.runtime.objects.boxes import listed
from hastega_magic.runtime.python import as_result
from hastega_magic.runtime.python_calls import elements as numbers_of
from hastega_magic.runtime.sources import AnyArray, Column
from hastega_magic.types import FLOAT32, Complex, Either

if TYPE_CHECKING:
    from hastega_magic.compiler.python.elements import Element, Elements, Kept

_IN_A_TREE = frozenset({"sum", "reduce_add", "mean", "prod", "reduce_mul", "var", "std"})
"""Sinks whose floats are combined in the reduction tree, those of Python's blocks too."""

_PRODUCT_BITS = 126
"""Products of so many bits need no Python."""

_PIECE = 256
"""Elements of a block that are evaluated at once where one of them is sought: each alone takes ten times as long."""


def assembled(
    output: Output,
    arrays: Sequence[AnyArray],
    loop: Loop,
    workspace: Workspace | None = None,
    mode: str = "exact",
) -> object:
    """The value of an output whose elements are stored, from the arrays of its scalars.

    `workspace`, `mode`: for a shorter chunk, the arrays that functions read, and what integers beyond 64 bits become.
    """
    return _made(output, nested(output.value, iter(arrays)), loop, workspace, mode)


def _made(
    output: Output, value: AnyArray, loop: Loop, workspace: Workspace | None, mode: str = "exact"
) -> object:
    """What the sink makes of the elements."""
    given = loop.stages[-1]
    if loop.built.tail:
        value = joined([value, tail(loop, workspace, mode)])
    match output.sink.kind:
        case "to_list":
            return listed(value)
        case "bincount":
            return python_stages.bincount(value, **given.kwargs)
        case "complex_prod":
            return complex_product(value)
        case "first" | "last":
            return python.apply(given.site.name, value, (), given.kwargs)
        case _:
            typed = given.site.name == "astype" and given.callee is None
            return python.in_dtype(value, *given.args, **given.kwargs) if typed else value


def is_mixed(value: Value) -> bool:
    """Whether the element holds numbers that are of one type or another."""
    return isinstance(value, Either) or (isinstance(value, tuple) and any(map(is_mixed, value)))


@dataclass
class Recovery:
    """Finishes one output of a loop of which some blocks need Python."""

    loop: Loop
    workspace: Workspace
    columns: Sequence[Column]
    result: LoopResult
    options: Options
    group: Sequence[Loop] = ()
    overflowed: bool = False
    warnings: list[str] = field(default_factory=list[str])

    @cached_property
    def elements(self) -> Elements:
        """The loop's elements as Python evaluates them."""
        from hastega_magic.compiler.python.elements import Elements

        return Elements(self.loop, self.workspace, self.options.int_mode, self.group)

    def number(self, row: int) -> int:
        """Of the block that a row of partial results is of."""
        numbers = self.result.numbers
        return row if numbers is None else int(numbers[row])

    def block(self, row: int) -> Iterator[Element]:
        """The elements of a row's block, evaluated one after the other."""
        number = self.number(row)
        return map(self.elements.at, range(number * BLOCK, min((number + 1) * BLOCK, self.result.length)))

    def value(self, output: Output, folds: Sequence[int], troubled: AnyArray) -> object:
        """The output with the troubled blocks evaluated by Python; whatever an element raises propagates."""
        if output.sink.kind in ("any", "all"):
            return self._decision(output, folds, troubled)
        blocks = Evaluated(self.elements, sorted(troubled.tolist()), self.result.length)
        kept = output.sink.kind in ELEMENT_SINKS
        found = self._array(output, blocks) if kept else self.reduction(output, folds, blocks)
        self.overflowed |= self.elements.overflowed
        self.warnings = self.elements.warnings
        return found

    # Arrays

    def _array(self, output: Output, blocks: Blocks) -> object:
        """Stretches that the kernel stored, and Python's values between them."""
        arrays = self.result.arrays
        group = self.result.groups[0]
        sizes = np.full(len(self.result.status), BLOCK) if group is None else self.result.kept[:, group]
        ends = np.minimum(np.cumsum(sizes), self.result.length)
        pieces: list[AnyArray] = []
        values: list[object] = []

        def flush() -> None:
            if values:
                pieces.append(as_result(values))
                values.clear()

        start = 0
        for number, kept in blocks:
            first = int(ends[number - 1]) if number else 0
            if first > start:
                flush()
                pieces.append(nested(output.value, iter([array[start:first] for array in arrays])))
            values += kept.values
            start = int(ends[number])
        all_ = start == int(ends[-1]) and not pieces and output.sink.kind == "to_list"
        if all_ and not self.loop.built.tail and set(map(type, values)) == {int}:
            return values
        flush()
        if start < int(ends[-1]) or not pieces:
            pieces.append(nested(output.value, iter([array[start : int(ends[-1])] for array in arrays])))
        if is_mixed(output.value):  # what all elements are decides about the array's type
            found = as_result([each for piece in pieces for each in numbers_of(piece)])
            return _made(output, found, self.loop, self.workspace, self.options.int_mode)
        return _made(output, joined(pieces), self.loop, self.workspace, self.options.int_mode)

    # Reductions

    def reduction(self, output: Output, folds: Sequence[int], blocks: Blocks = ()) -> object:
        """The result of a reduction; `blocks` are those that Python evaluates."""
        if output.sink.kind in ("min", "max"):
            for default in default_of(self.loop.stages[-1], self._counts(output, folds), blocks):
                return default
        found: Any = self._reduction(output, folds, blocks)
        if self.options.int_mode == "wrap" and type(found) is int:
            return wrap64(found)
        single = isinstance(output.value, (Expr, Complex)) and flatten(output.value)[0].type is FLOAT32
        # What Python makes of numpy.float32 is one, too; of no elements it has an int.
        if single and type(found) is float:
            return np.float32(found)
        return np.complex64(found) if single and type(found) is complex else found

    def _reduction(self, output: Output, folds: Sequence[int], blocks: Blocks) -> object:
        kind, type_ = output.sink.kind, flatten(output.value)[0].type
        if isinstance(output.value, Complex) and kind != "count":
            return self._complex(output, folds, blocks)
        if isinstance(output.value, Either) and kind in MIXED_SINKS:
            from hastega_magic.compiler.python import mixed_reductions

            return mixed_reductions.reduction(
                kind, [self.result.partials[each] for each in folds], blocks, self
            )
        weights = output.weights
        partials = self.result.partials[folds[0]]
        if _parts(output) > 1:
            partials = np.hstack([self.result.partials[each] for each in folds[: _parts(output)]])
        if kind == "sum" and not (type_.is_float or blocks or self.loop.built.initial):
            return results.exact_sum(partials, weights)  # of no elements, too
        counts = self._counts(output, folds)
        if kind in ("argmin", "argmax"):
            return self._place(kind, partials, weights, counts, blocks)
        initial = self.loop.built.initial
        mine = Combined(kind, initial)
        for number, kept in blocks:
            if kind in _IN_A_TREE and type_.is_float:
                counts[number], partials[number] = len(kept.values), self._float_partial(kind, kept)
                continue
            counts[number], partials[number] = 0, 0
            if kind in ("prod", "reduce_mul"):
                partials[number, -1] = 1
            mine.take(kept.values)
        if mine.count:
            if is_product(output) and isinstance(mine.value, int) and mine.value.bit_length() > _PRODUCT_BITS:
                self.overflowed = True
            return self._combined(kind, partials, counts, mine, output)
        return self._folded(output, partials, counts)

    def _folded(self, output: Output, partials: AnyArray, counts: AnyArray) -> object:
        """What the partial results of all blocks, and what the sink begins with, come to."""
        kind, type_ = output.sink.kind, flatten(output.value)[0].type
        initial, weights = self.loop.built.initial, output.weights
        if kind.startswith("reduce_") and not counts.sum():
            return initial[0] if initial else functools.reduce(COMBINE[kind], ())
        found: Any = results.fold(kind, type_, partials, counts, weights)
        if kind in ("var", "std"):
            total = np.float32(found) if type_ is FLOAT32 else found
            return float(spread(kind, total, int(counts.sum()), output.sink.ddof))
        if kind in ("min", "max") and type_.is_float:
            found = self._first_extreme(found, partials[:, 0], counts)
        return COMBINE[kind](initial[0], found) if initial else found

    def _complex(self, output: Output, folds: Sequence[int], blocks: Blocks) -> complex | int:
        """A sum or mean of complex numbers: of each part by itself, in the tree of all float sums."""
        type_, counts = flatten(output.value)[0].type, self.result.partials[folds[-1]][:, 0]
        partials = [self.result.partials[folds[place]] for place in range(2)]
        for number, kept in blocks:
            counts[number] = len(kept.values)
            for part, name in zip(partials, ("real", "imag"), strict=True):
                values = list(map(operator.attrgetter(name), kept.values))
                part[number] = self._float_partial("sum", kept._replace(values=values))
        totals: list[Any] = [results.fold("sum", type_, part, counts) for part in partials]
        count = int(counts.sum())
        if not count:  # Python's own start, or its complaint
            return cast(int, results.fold(output.sink.kind, type_, self.result.partials[folds[0]], counts))
        total = complex(*totals)
        return total / count if output.sink.kind == "mean" else total

    def _counts(self, output: Output, folds: Sequence[int]) -> AnyArray:
        """Elements that took part, per block; ones where the reduction needs no count."""
        if len(folds) == _parts(output) and output.sink.kind != "count":
            return np.ones(len(self.result.status), np.int64)
        return self.result.partials[folds[-1]][:, 0]

    def _combined(
        self, kind: str, partials: AnyArray, counts: AnyArray, mine: Combined, output: Output
    ) -> object:
        type_, count = flatten(output.value)[0].type, int(counts.sum()) + mine.count
        if kind == "count":
            return count
        if kind == "mean":
            total = cast(int, results.fold("sum", type_, partials, counts, output.weights)) + mine.value
            return total / count
        if not counts.sum():
            return mine.value
        return COMBINE[kind](results.fold(kind, type_, partials, counts, output.weights), mine.value)

    def _float_partial(self, kind: str, kept: Kept) -> float:
        """A block's sum or product by the fixed tree, with elements that are left out counting as neutral.

        NotCompilable where a power of a negative number is complex.
        """
        if complex in set(map(type, kept.values)):
            raise NotCompilable("an element is a complex number, as that of `(-8.0) ** 0.5`")
        product = kind in ("prod", "reduce_mul")
        neutral = PROD_NEUTRAL if product else SUM_NEUTRAL
        dtype = np.float32 if type(next(iter(kept.values), 0.0)) is np.float32 else np.float64
        return float((block_prods if product else block_sums)(kept.column(neutral, dtype))[0])

    def _first_extreme(self, found: float, partials: AnyArray, counts: AnyArray) -> float:
        """Python's min and max keep the first of equals, and a NaN if it comes first.

        The kernel skips NaNs and does not tell zeros apart, so the first element, and the first zero, are
        looked at.
        """
        live = np.flatnonzero(counts > 0)
        first = next(element.value for element in self.block(int(live[0])) if element.kept)
        if math.isnan(first):
            return float(first)
        if found == 0:
            row = next(int(row) for row in live if partials[row] == 0)
            _, zero = self._first_equal(self.number(row), 0)
            return float(zero)
        return found

    def _first_equal(self, number: int, sought: Any) -> tuple[int, Any]:
        """The place in a block of the first element that is equal to what is sought, which one is, and that element.

        No element of the block raises, or needs Python's integers and was not seen to.
        """
        begin, end = number * BLOCK, min((number + 1) * BLOCK, self.result.length)
        for first in range(begin, end, _PIECE):
            kept = self.elements.through(first, min(first + _PIECE, end), looks=False)
            for place, value in zip(kept.places, kept.values, strict=True):
                if value == sought:
                    return first - begin + place, value
        raise LookupError(f"{sought!r} is not in block {number}")

    def _place(
        self, kind: str, partials: AnyArray, weights: Sequence[int], counts: AnyArray, blocks: Blocks
    ) -> int:
        """The number of the first smallest or largest element: within the first block that has such a one.

        `partials`: the element of each block, where its count is not 0.
        """
        least = kind == "argmin"
        bests: list[tuple[Any, int]] = []
        for number, kept in blocks:
            counts[number] = partials[number] = 0
            values = [each for each in kept.values if each == each]
            if values:
                bests.append((min(values) if least else max(values), number))
        if not self.result.length:
            raise ValueError(f"{kind} of no elements")
        first = self.elements.at(0).value
        if first != first:
            return 0  # nothing is better than a NaN
        live = np.flatnonzero(counts > 0)
        if len(live):
            row = int(live[results.first_best(partials[live], least)])
            value = results.integers(partials[[row]])[0] if weights else partials[row, 0].item()
            bests.append((value, self.number(row)))
        best = (min if least else max)(value for value, _ in bests)
        number = min(number for value, number in bests if value == best)
        place, _ = self._first_equal(number, best)
        return number * BLOCK + place

    def _decision(self, output: Output, folds: Sequence[int], troubled: AnyArray) -> bool:
        """Any and all stop at the element that decides, so trouble after it is none."""
        decisive = output.sink.kind == "any"
        partials = self.result.partials[folds[0]][:, 0]
        decided = np.flatnonzero((partials != 0) == decisive)
        bad = set(map(int, troubled))
        good = next((int(number) for number in decided if int(number) not in bad), len(partials))
        for number in sorted(bad):
            if number > good:
                break
            if any(element.kept and bool(element.value) == decisive for element in self.block(number)):
                return decisive
        return decisive if good < len(partials) else not decisive


def _parts(output: Output) -> int:
    """How many accumulations hold the value: each part of a sum has its own."""
    return len(output.weights) if output.weights and output.sink.kind not in EXTREMES else 1


def joined(pieces: Sequence[AnyArray]) -> AnyArray:
    """One array of all pieces, of the type that Python's elements have where theirs differ."""
    pieces = [piece for piece in pieces if len(piece)] or pieces[:1]
    kinds = {piece.dtype for piece in pieces}
    if len(kinds) <= 1:
        return np.concatenate(pieces) if len(pieces) > 1 else pieces[0]
    if all(piece.dtype.kind in "iu" for piece in pieces):
        least = min(int(piece.min()) for piece in pieces if len(piece))
        if least >= 0:
            return np.concatenate([piece.astype(np.uint64) for piece in pieces])
    # Each as it is an element: of 32 bits a float is NumPy's.
    return as_result([each for piece in pieces for each in numbers_of(piece)])
