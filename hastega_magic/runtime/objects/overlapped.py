"""A list made by a loop over lists: elements are read, computed and made objects at the same time, chunk by chunk.

    helpers   read chunk 2, compute | read chunk 3, compute | ...
    leader    objects of chunk 0    | of chunk 1 | read chunk 4, compute (nothing to make yet) | of chunk 2 | ...

The leader is the calling thread. It holds the GIL, so that nobody changes a list that is read, and objects can be made.
A chunk's numbers stay in the caches from where they are read to where they are made objects.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Sequence
from functools import cache, partial
from typing import Any, NamedTuple, cast

import numpy as np

from hastega_magic.forking import held_while_forking
from hastega_magic.ir import abi
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.progress import task
from hastega_magic.records import dataclass
from hastega_magic.runtime import cpu, threads
from hastega_magic.runtime.buffers import look_after_list
from hastega_magic.runtime.cpu import Program
from hastega_magic.runtime.objects import boxes, overlapped_text
from hastega_magic.runtime.objects import overlapped_words as job_words
from hastega_magic.runtime.objects.lists import ADDRESS, LENGTH, Reader, head_of, layout
from hastega_magic.runtime.objects.reused import kept_whole, picker
from hastega_magic.runtime.tables import TableColumn
from hastega_magic.types import RESULT_STORAGE

CHUNK = 2 * BLOCK
"""Elements that one thread takes at a time."""

_RING = 8
"""Chunks at most that are computed and not yet made objects: what lies in caches."""

_SECONDS = 0.02
"""After so long, at most, signals are answered, and other threads have a turn."""

_FIRST, _MOST = 32, 128
"""Chunks before signals are answered, where it is not known how long they take; and at most."""

_ROOM = CHUNK + abi.SLACK
"""Elements that there is room for at a place in the ring."""

_SIZE, _ITEMS, _ALLOCATED = 16, 24, 32
"""Where a list says how many elements it has, where they are, and how many there is room for."""

Operand = tuple[int, int] | Sequence[object]
"""A source: its address and stride in bytes; start and step of a range; or a list or tuple, which is read."""

_malloc = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(("PyMem_Malloc", ctypes.pythonapi))
_lock = held_while_forking(threading.Lock())


@dataclass(frozen=True)
class _Code:
    """The native code, called without the GIL and with it."""

    program: Program
    leading: Any


class Made(NamedTuple):
    """The list, and whether NaN is among the objects that were made for it."""

    objects: list[Any]
    nan: bool


def _word(made: list[Any], place: int) -> ctypes.c_int64:
    return ctypes.c_int64.from_address(id(made) + place)


def _roomy(count: int) -> list[Any]:
    """An empty list with room for so many elements; MemoryError where there is none."""
    made: list[Any] = []
    items = _malloc(8 * count)
    if not items:
        raise MemoryError
    _word(made, _ITEMS).value, _word(made, _ALLOCATED).value = items, count
    return made


def _known_lists() -> bool:
    """Whether lists are laid out as they are made here: tried on one that holds nothing of its own."""
    sample = [None, None, None]
    del sample[2]
    room = (sys.getsizeof(sample) - sys.getsizeof([])) // 8
    words = [_word(sample, place).value for place in (_SIZE, _ALLOCATED)]
    empty: list[Any] = []
    return words == [2, room] and [_word(empty, place).value for place in (_SIZE, _ITEMS, _ALLOCATED)] == [
        0,
        0,
        0,
    ]


@cache
def _code() -> _Code | None:
    """None where lists are not laid out as expected."""
    if layout() is None or not _known_lists():
        return None
    program = cpu.compile_text(overlapped_text.text(cpu.host().triple, BLOCK))
    prototype: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    return _Code(program, prototype(_address(program.function)))


def fits(kernel: Kernel) -> bool:
    """Whether a kernel's results can be made a list chunk by chunk: numbers of one kind, and no chunk needs another."""
    plan = abi.layout(kernel)
    if plan.turns or plan.folds or len(plan.stores) != 1 or plan.stores[0].running:
        return False
    return boxes.maker(_result(plan)) is not None and _coded() is not None


def _coded() -> _Code | None:
    with _lock:
        return _code()


def _result(plan: abi.Layout) -> np.dtype[Any]:
    return np.dtype(RESULT_STORAGE[plan.stores[0].type].name)


def _own(kernel: Kernel, readers: Sequence[Reader | None]) -> int | None:
    """The slot of the source whose objects are the result's; None where they are made."""
    slot = kept_whole(kernel)
    read = None if slot is None else readers[slot]
    same = read is not None and read.dtype == _result(abi.layout(kernel)) and read.dtype.itemsize == 8
    with _lock:
        return slot if same and picker() is not None else None


class Overlapped:
    """One variant of a loop whose result is a list. `readers`: for each source what reads it, if it is a list."""

    def __init__(
        self,
        kernel: Kernel,
        program: Program,
        tables: Sequence[TableColumn],
        readers: Sequence[Reader | None],
        threads: int,
        hands_on: bool = False,
    ) -> None:
        """A kernel that `fits`; `threads` take part, of which one is the calling one.

        `hands_on`: as Python has it, elements of the result are elements of the source.
        """
        own = _own(kernel, readers) if hands_on else None
        self._new = partial(_Run, kernel, program, tables, readers, own)
        self._threads = threads
        self._idle: list[_Run] = []
        self._rate = 0.0
        """Seconds that a chunk took in the last run."""

    def run(self, operands: Sequence[Operand], length: int) -> Made | None:
        """The list over `length` elements; None where an element is not as expected, or needs another variant.

        MemoryError where there is no room for it.
        """
        try:
            run = self._idle.pop()
        except IndexError:
            run = self._new()
        try:
            chunks = run.begin(operands, length)
            run.call_helpers(min(self._threads, chunks) - 1)
            with task("parallel", length) as work:
                done, rate, began = 0, self._rate, time.perf_counter()
                while done < chunks:
                    count = min(_MOST, max(1, int(_SECONDS / rate))) if rate else _FIRST
                    stop = min(chunks, done + count)
                    if not run.until(stop):
                        return None
                    done, rate = stop, (time.perf_counter() - began) / stop
                    work.at(min(done * CHUNK, length))
                    look_after_list(done * CHUNK)
            self._rate = rate
            return run.made()
        finally:
            run.over()
            self._idle.append(run)


class _Run:
    """The memory of runs, one after the other. A helper that comes late finds nothing to do, or helps the next one."""

    def __init__(
        self,
        kernel: Kernel,
        program: Program,
        tables: Sequence[TableColumn],
        readers: Sequence[Reader | None],
        own: int | None,
    ) -> None:
        plan, code = abi.layout(kernel), _coded()
        result = _result(plan)
        maker = boxes.maker(result) if own is None else picker()
        assert code is not None
        assert maker is not None
        self._plan, self._code, self._readers = plan, code, readers
        lists = [each for each in readers if each is not None]
        width = plan.words + job_words.READER_WORDS * len(lists)
        self._base, self._step, self._around = _words(width), _words(width), _words(width)
        self._done, rows, addresses = _words(_RING), _words(_RING * width), _words(len(lists))
        self._maker = maker.words()
        self._keep = [tables, program, maker, rows, addresses]
        base, shared = self._base, 8 * plan.shared_words
        base[abi.HANDED], self._step[abi.ORIGIN] = plan.handover, CHUNK
        self._each_place(abi.SHARED, shared)
        self._each_place(abi.COUNTS, CHUNK // BLOCK * max(1, plan.group_count) * 8)
        self._each_place(abi.STATUS, CHUNK // BLOCK)
        self._each_place(plan.store(0), _ROOM * result.itemsize)
        for slot, table in enumerate(tables):
            place = plan.table(slot)
            base[place : place + 3] = (table.data.ctypes.data, table.data.itemsize, len(table.data))
        self._job = _words(job_words.WORDS)
        self._makes = own is None
        self._heads = _words(4 * len(lists))
        """For each list where its length and the address of its items stand; these are here for each tuple."""
        self._take_in(own, addresses)
        group = plan.groups[0]
        for word, value in {
            job_words.STATE: job_words.OVER,
            job_words.CHUNK: CHUNK,
            job_words.RING: _RING,
            job_words.WIDTH: width,
            job_words.ROWS: ctypes.addressof(rows),
            job_words.BASES: ctypes.addressof(self._base),
            job_words.STEPS: ctypes.addressof(self._step),
            job_words.RINGS: ctypes.addressof(self._around),
            job_words.KERNEL: _address(program.function),
            job_words.KERNEL_WORDS: plan.words,
            job_words.LISTS: len(lists),
            job_words.HEADS: ctypes.addressof(self._heads),
            job_words.REALLOC: _address(ctypes.pythonapi.PyMem_Realloc),
            job_words.FREE: _address(ctypes.pythonapi.PyMem_Free),
            job_words.READERS: ctypes.addressof(addresses),
            job_words.DONE: ctypes.addressof(self._done),
            job_words.SHARED_BYTES: shared,
            job_words.COUNT_AT: -1 if group is None else abi.POSITIONS + abi.LINE * group,
            job_words.STORE: plan.store(0),
            job_words.MAKE: maker.address,
            job_words.MAKER: ctypes.addressof(self._maker),
        }.items():
            self._job[word] = value
        self._address = ctypes.c_void_p(ctypes.addressof(self._job))
        self._leader, self._leaders = self._part(job_words.LEADS)
        self._fitter = (ctypes.c_int64 * 2)(job_words.FITS, 0)
        self._lists: list[Sequence[object]] = []
        self._made: list[Any] = []
        self._length = 0

    def _take_in(self, own: int | None, addresses: ctypes.Array[ctypes.c_int64]) -> None:
        """Let each list be read into the ring. `own`: the list whose elements the result has; `addresses`: of code."""
        base, plan = self._base, self._plan
        lists = [(slot, reader) for slot, reader in enumerate(self._readers) if reader is not None]
        for number, (slot, reader) in enumerate(lists):
            word, source = plan.words + job_words.READER_WORDS * number, plan.source(slot)
            self._each_place(source, _ROOM * reader.dtype.itemsize)
            base[source + 1] = reader.dtype.itemsize
            given = reader.words(base[source])
            base[word : word + len(given)] = given
            self._step[word] = 8 * CHUNK
            self._around[word + 2] = self._around[source]  # where numbers go
            addresses[number] = reader.address
            if slot == own:
                self._job[job_words.OWN] = word

    def _each_place(self, word: int, size: int) -> None:
        """Let the word have the address of so many bytes for each place in the ring."""
        distance = abi.aligned(size)
        memory = (ctypes.c_uint8 * (_RING * distance + abi.ALIGNMENT))()
        self._keep.append(memory)
        self._base[word], self._around[word] = abi.aligned(ctypes.addressof(memory)), distance

    def _part(self, role: int) -> tuple[ctypes.c_void_p, object]:
        """What a thread has of its own: its role and its scratch; and what they lie in."""
        scratch = (ctypes.c_uint8 * (self._plan.scratch_bytes + abi.ALIGNMENT))()
        own = (ctypes.c_int64 * 2)(role, abi.aligned(ctypes.addressof(scratch)))
        return ctypes.c_void_p(ctypes.addressof(own)), (own, scratch)

    def begin(self, operands: Sequence[Operand], length: int) -> int:
        """Make everything ready; the number of chunks. MemoryError where there is no room for the list."""
        job, plan = self._job, self._plan
        self._lists = []
        for slot, operand in enumerate(operands):
            if self._readers[slot] is not None:
                self._lists.append(cast("Sequence[object]", operand))
                continue
            first, second = cast("tuple[int, int]", operand)
            word = plan.source(slot)
            self._base[word], self._base[word + 1] = first, second
            self._step[word] = second * CHUNK
        for number, data in enumerate(self._lists):
            self._look_at(number, data)
        self._made = _roomy(length)
        self._length = job[job_words.LENGTH] = length
        self._maker[boxes.NAN] = 0
        job[job_words.LIST] = id(self._made)
        for word in (job_words.NEXT, job_words.MADE, job_words.FAILED, job_words.HERE):
            job[word] = 0
        ctypes.memset(self._done, 0, ctypes.sizeof(self._done))
        job[job_words.STATE] = job_words.CLOSED
        return -(-length // CHUNK)

    def _look_at(self, number: int, data: Sequence[object]) -> None:
        """Let native code know where it finds how many elements there are, and their address: a list may change."""
        heads, words = self._heads, (LENGTH, ADDRESS)
        if isinstance(data, list):
            heads[2 * number : 2 * number + 2] = [id(data) + 8 * word for word in words]
            return
        head, place = head_of(data), len(heads) // 2 + 2 * number
        heads[place : place + 2] = [head[word] for word in words]
        at = ctypes.addressof(heads) + 8 * place
        heads[2 * number : 2 * number + 2] = at, at + 8

    def call_helpers(self, count: int) -> None:
        """Ask so many threads to help, and wait a little until they are there."""
        if count < 1:
            return
        function = self._code.program.function

        def help_it(number: int) -> None:
            own, memory = self._part(job_words.HELPS)
            function(self._address, own)
            del memory

        threads.helped(help_it, count)
        waiting = (ctypes.c_int64 * 2)(count, 0)
        function(self._address, ctypes.addressof(waiting))  # without the GIL, which they need to come

    def until(self, stop: int) -> bool:
        """Make the objects of the chunks before `stop`; False where that cannot be done. MemoryError."""
        job = self._job
        job[job_words.STOP] = stop
        self._code.leading(self._address, self._leader)
        if job[job_words.FAILED] == job_words.NO_MEMORY:
            raise MemoryError
        return not job[job_words.FAILED]

    def made(self) -> Made:
        """The list."""
        made = self._made
        self._code.leading(self._address, self._fitter)
        if self._makes:
            boxes.keep(made)
        return Made(made, bool(self._maker[boxes.NAN]))

    def over(self) -> None:
        """Nothing more comes."""
        self._job[job_words.STATE] = job_words.OVER
        self._lists, self._made = [], []


def _words(count: int) -> Any:
    return (ctypes.c_int64 * count)()


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


__all__ = ["CHUNK", "Overlapped", "fits"]
