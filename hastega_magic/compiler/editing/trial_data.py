"""What is sent to the process that tries an edited kernel: texts, layouts, and where the data lies in a file.

Of a kernel only its frame is sent, with a leaf in the place of each graph: which operands it has, and their types.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import IO

import numpy as np

from hastega_magic.compiler.options import Options
from hastega_magic.ir import abi
from hastega_magic.ir.expr import Expr
from hastega_magic.ir.kernel import Accumulate, Kernel, Statement, Store
from hastega_magic.ir.pipeline import Source, Table, stride_of
from hastega_magic.records import dataclass
from hastega_magic.runtime.loop_result import LoopResult
from hastega_magic.runtime.sources import PIECE, AnyArray, Column
from hastega_magic.runtime.tables import TableColumn
from hastega_magic.types import ScalarType

_PAGE = 4096


@dataclass(frozen=True)
class Slab:
    """An array in a file: `shape` elements of NumPy's `dtype`, `offset` bytes from the start."""

    offset: int
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Text:
    """A variant: the frame of its kernel, and its text."""

    kernel: Kernel
    text: str


@dataclass(frozen=True)
class Trial:
    """A loop over `length` elements, by `variants` of the original; `edited` stands for variant `first`.

    `columns` and `tables` lie in the file `data`, results go to the file `results` (descriptors of the process).
    `prefix`: so many elements are tried first; `seconds`: how long the two kernels are timed, one after the other.
    """

    language: str
    options: Options
    variants: tuple[Text, ...]
    first: int
    edited: str
    columns: tuple[tuple[Source, range | Slab], ...]
    tables: tuple[tuple[Table, ScalarType, Slab], ...]
    length: int
    prefix: int
    seconds: float
    data: int
    results: int


@dataclass(frozen=True)
class ResultSlabs:
    """A LoopResult in a file."""

    length: int
    arrays: tuple[Slab, ...]
    partials: tuple[Slab, ...]
    status: Slab
    kept: Slab
    groups: tuple[int | None, ...]


def frame_of(kernel: Kernel) -> Kernel:
    """The kernel with leaves instead of graphs, the same one for the same graph."""
    leaves: dict[Expr, Expr] = {}
    kind = (
        "turns" if abi.layout(kernel).turns else "load"
    )  # kernels with turns are given how many they may make

    def leaf(node: Expr) -> Expr:
        if node not in leaves:
            leaves[node] = Expr(kind, (), node.type, len(leaves))  # not interned: it is only to be sent
        return leaves[node]

    body: list[Statement] = []
    for statement in kernel.body:
        if isinstance(statement, (Accumulate, Store)):
            mask = None if statement.mask is None else leaf(statement.mask)
            found = replace(statement, value=leaf(statement.value), mask=mask)
            if isinstance(found, Accumulate):
                found = replace(found, product=None, high=None if found.high is None else leaf(found.high))
            body.append(found)
    ranges = {new: kernel.ranges[old] for old, new in leaves.items() if old in kernel.ranges}
    return Kernel(kernel.sources, kernel.tables, tuple(body), kernel.schedule, ranges)


def write_columns(
    columns: Sequence[Column], length: int, file: IO[bytes]
) -> tuple[tuple[Source, range | Slab], ...]:
    """Copy the first `length` elements of each source into the file; ranges need none."""
    found: list[tuple[Source, range | Slab]] = []
    for column in columns:
        source = replace(column.source, length=length)
        if isinstance(column.data, range):
            found.append((source, column.data[:length]))
            continue
        if source.kind == "list":
            source = replace(source, kind="array")
        found.append((source, _write_column(column, length, file)))
    return tuple(found)


def _write_column(column: Column, length: int, file: IO[bytes]) -> Slab:
    offset = _aligned(file)
    dtype, layout = column.array(0, 0).dtype, column.source.layout
    stride = stride_of(layout) or 1
    starts = range(0, length, PIECE)
    for start in starts if stride > 0 else reversed(starts):
        piece = column.array(start, min(start + PIECE, length))
        memory = np.zeros(abs(stride) * len(piece), dtype)
        elements_in(memory, layout)[:] = piece
        file.write(memory.data)
    return Slab(offset, dtype.str, (length * abs(stride),))


def elements_in(memory: AnyArray, layout: str) -> AnyArray:
    """Where the elements of a source lie whose stride native code takes for granted; others lie one after the other."""
    stride = stride_of(layout) or 1
    return memory[::stride] if layout != "odd" else memory[1::stride]


def write_tables(
    tables: Sequence[TableColumn], file: IO[bytes]
) -> tuple[tuple[Table, ScalarType, Slab], ...]:
    """Copy captured arrays into the file."""
    return tuple((each.table, each.scalar, write(each.data, file)) for each in tables)


def write(array: AnyArray, file: IO[bytes]) -> Slab:
    """Append an array to the file."""
    offset = _aligned(file)
    dense = np.ascontiguousarray(array)
    if dense.size:
        file.write(dense.reshape(-1).view(np.uint8).data)
    return Slab(offset, dense.dtype.str, dense.shape)


def read(slab: Slab, file: IO[bytes]) -> AnyArray:
    """An array of the file, copied into memory."""
    file.seek(slab.offset)
    count = int(np.prod(slab.shape))
    return np.fromfile(file, slab.dtype, count).reshape(slab.shape)


def mapped(slab: Slab, file: IO[bytes]) -> AnyArray:
    """An array of the file in read-only pages: storing there ends the process."""
    if not np.prod(slab.shape):
        return np.empty(slab.shape, slab.dtype)
    return np.asarray(np.memmap(file, slab.dtype, "r", slab.offset, slab.shape))


def write_result(result: LoopResult, file: IO[bytes]) -> ResultSlabs:
    """Everything that a loop left, of packed results what was kept."""
    return ResultSlabs(
        result.length,
        tuple(write(array[: result.packed_length(slot)], file) for slot, array in enumerate(result.arrays)),
        tuple(write(each, file) for each in result.partials),
        write(result.status, file),
        write(result.kept, file),
        result.groups,
    )


def read_result(slabs: ResultSlabs, file: IO[bytes]) -> LoopResult:
    """The loop's result, in memory of this process."""
    return LoopResult(
        slabs.length,
        [read(each, file) for each in slabs.arrays],
        [read(each, file) for each in slabs.partials],
        read(slabs.status, file),
        read(slabs.kept, file),
        slabs.groups,
    )


def _aligned(file: IO[bytes]) -> int:
    end = file.seek(0, io.SEEK_END)
    return file.seek(-(-end // _PAGE) * _PAGE)


__all__ = [
    "ResultSlabs", "Slab", "Text", "Trial", "elements_in", "frame_of", "mapped", "read_result", "write",
    "write_columns", "write_result", "write_tables",
]  # fmt: skip
