"""A kernel called over few elements, on the calling thread, in memory that is kept: for loops that run many times.

What `launch.py` does for any number of elements, without its preparations: words, partial results and scratch stay
from call to call, and only sources, results and the number of elements are filled in.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from hastega_magic.ir import abi
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.runtime.cpu import Program
from hastega_magic.runtime.cpu.call_words import CallWords
from hastega_magic.runtime.loop_result import record_of
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.runtime.tables import TableColumn
from hastega_magic.types import RESULT_STORAGE

MOST_BLOCKS = 16
"""More blocks are worth a launch, with threads."""

MOST = MOST_BLOCKS * BLOCK


class DirectCall(CallWords):
    """One variant of a loop. Not for two threads at once: whoever runs it holds its `lock`, which others may share."""

    def __init__(
        self, kernel: Kernel, program: Program, tables: Sequence[TableColumn], lock: Lock | None = None
    ) -> None:
        plan = abi.layout(kernel)
        super().__init__(plan, tables)
        self._groups = plan.group_count
        self.lock = lock or Lock()
        self._program = program  # its code must stay, too
        self._function = program.function
        self._status = (ctypes.c_uint8 * MOST_BLOCKS)()
        self._shared = (ctypes.c_int64 * plan.shared_words)()
        self._state = memoryview(self._shared).cast("B")
        self._zeros = bytes(self._state.nbytes)
        self._kept = (ctypes.c_int64 * (MOST_BLOCKS * max(1, plan.group_count)))()
        self._scratch = (ctypes.c_uint8 * (plan.scratch_bytes + abi.ALIGNMENT))()
        self.partials: list[Any] = []
        for number, fold in enumerate(plan.folds):
            floats = fold.kind != "count" and fold.value.type.is_float
            room = ((ctypes.c_double if floats else ctypes.c_int64) * (MOST_BLOCKS * fold.words))()
            self.partials.append(room)
            self._words[plan.fold(number)] = ctypes.addressof(room)
        self._words[abi.HANDED] = plan.handover
        self._words[abi.STATUS] = ctypes.addressof(self._status)
        self._words[abi.SHARED] = ctypes.addressof(self._shared)
        self._words[abi.COUNTS] = ctypes.addressof(self._kept)
        self._words_address = ctypes.c_void_p(ctypes.addressof(self._words))
        self._scratch_address = ctypes.c_void_p(abi.aligned(ctypes.addressof(self._scratch)))
        self._stores = [
            (plan.store(number), RESULT_STORAGE[store.type].name, plan.groups[number])
            for number, store in enumerate(plan.stores)
        ]
        self._in_records = len(plan.rooms) < len(plan.stores)
        self._first_source = plan.source(0)
        self.blocks = self.length = 0
        """Of the last run."""

    def runs(self, program: object) -> bool:
        """Whether that is its code."""
        return self._program is program

    def points(self, slot: int, address: int, size: int, count: int) -> None:
        """So many elements of a size, in memory that stays, are the captured array of this slot from now on."""
        place = self._plan.table(slot)
        self._words[place : place + 3] = address, size, count

    def run(self, operands: Sequence[int], length: int) -> list[AnyArray] | None:
        """The result arrays over `length` elements, at most `MOST`; None where a block was not computed.

        `operands`: for each source its address and stride in bytes, or start and step of a range. Partial results
        lie in `partials` until the next run.
        """
        words, shared = self._words, self._shared
        blocks = self.blocks = -(-length // BLOCK)
        self.length = length
        words[abi.LENGTH], words[abi.BLOCKS] = length, blocks
        words[self._first_source : self._first_source + len(operands)] = operands
        self._state[:] = self._zeros  # a fifth of what `memset` costs
        arrays = (
            self._room(length)
            if self._in_records
            else [np.empty(length, name) for _, name, _ in self._stores]
        )
        for (place, _, _), array in zip(self._stores, arrays, strict=True):
            words[place] = array.ctypes.data
        self._function(self._words_address, self._scratch_address)
        if shared[abi.FLAGS]:
            return None
        for number, (_, _, group) in enumerate(self._stores):
            if group is not None:
                kept = sum(self._kept[group : blocks * self._groups : self._groups])
                arrays[number] = arrays[number][:kept].copy()
        return arrays

    def _room(self, length: int) -> list[AnyArray]:
        """Memory for results of which some are the fields of records."""
        arrays: list[AnyArray] = []
        for stores in self._plan.rooms:
            if len(stores) == 1:
                arrays.append(np.empty(length, RESULT_STORAGE[stores[0].type].name))
            else:
                record = record_of(stores)
                whole = np.empty(length, record)
                arrays += [whole[field] for field in record.names or ()]
        return arrays

    def folded(self) -> list[AnyArray]:
        """The partial results as arrays, shape (blocks, words): there until the next run."""
        return [np.ctypeslib.as_array(each).reshape(MOST_BLOCKS, -1)[: self.blocks] for each in self.partials]


__all__ = ["MOST", "DirectCall"]
