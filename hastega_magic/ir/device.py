"""The calling convention between generated OpenCL code and the runtime: kernels, their arguments, narrowed results.

`hastega` runs blocks of a chunk (a stretch of the elements that begins at a multiple of the block). Its
arguments, in order:

    long length                elements of the chunk
    long origin                number of the chunk's first element
    long first                 number of the first block (or, with a list, of its first entry)
    long *list                 numbers of the blocks to run; NULL: all, in order
    uchar *status              one per block, as in ir/kernel.py
    long limit                 only where elements make turns of loops of their own: operations in such turns after
                               which a block reports LATE, and is run again
    per source                 a range: long start, long step (of the chunk); else its dense elements
    per table                  its elements, long length
    per store                  where the chunk's values go, in `bus_storages`; under a mask at the element's
                               own place, to be packed by `pack1`, `pack4` or `pack8` (by element size)
    per packed group           ulong *columns (64 per block: bit r of column l is the mask of element
                               64 · r + l), long *kept (one per block)
    per accumulation           its partial results (1 or 2 words per block: long, double, or float)

`packN` takes long length, ulong *columns, long *starts (where each block's elements go), the values at their
own places, and the densely packed result.
"""

from __future__ import annotations

from collections.abc import Mapping

from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr
from hastega_magic.ir.kernel import Accumulate, Kernel, Store
from hastega_magic.types import FLOAT32, INT, RESULT_STORAGE, STORAGES, Storage

ENTRY = "hastega"

GROUP = 64
"""Work-items per block on a GPU: the virtual lanes of the reduction tree."""

_NARROW = ("int8", "uint8", "int16", "uint16", "int32", "uint32")


def bus_storage(store: Store, ranges: Mapping[Expr, Interval], narrow: bool) -> Storage:
    """How a store's values leave the device: ints, if they may be narrowed, in the least that their range needs."""
    wide = RESULT_STORAGE[store.value.type]
    found = ranges.get(store.value)
    if narrow and store.value.type is INT and found is not None:
        for name in _NARROW:
            limits = STORAGES[name].limits
            assert limits is not None
            if found.within(Interval(*limits)):
                return STORAGES[name]
    return wide


def bus_storages(kernel: Kernel, narrow: bool) -> tuple[Storage, ...]:
    """The storages of a kernel's stores by slot. Packed ones have an element size of 1, 4 or 8."""
    stores = sorted(kernel.of(Store), key=lambda store: store.slot)
    found = [bus_storage(store, kernel.ranges, narrow) for store in stores]
    return tuple(
        STORAGES[each.name.replace("16", "32")] if store.mask is not None and each.size == 2 else each
        for each, store in zip(found, stores, strict=True)
    )


def partial_name(fold: Accumulate) -> str:
    """NumPy's name of an accumulation's partial results on the device."""
    if fold.kind == "count" or not fold.value.type.is_float:
        return "int64"
    return "float32" if fold.value.type is FLOAT32 else "float64"
