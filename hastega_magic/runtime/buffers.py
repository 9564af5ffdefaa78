"""Memory of results: anonymous pages that are kept for the next result when their array dies.

Fresh pages cost more than most kernels do (about 0.2 ms per MiB), so a freed result's pages are worth keeping. A kept
buffer is dropped as soon as a result needs other pages, so that keeping never raises the peak.
"""

from __future__ import annotations

import atexit
import ctypes
import mmap
import os
import re
import sys
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hastega_magic.forking import free_when_forking
from hastega_magic.runtime.addresses import address_of

AnyArray = npt.NDArray[Any]

POOLED = 1 << 20
"""Results of at least so many bytes live in pooled pages."""

_STREAMED = 1 << 19
"""Results of fewer bytes are never stored past the caches, for which whole vectors have to be aligned."""

KEPT = 2 << 30
"""At most so many bytes are kept."""

_HUGE_PAGE = 2 << 20


class _Pages:
    """The owner of a result's memory; arrays hold it as their base."""

    def __init__(
        self, pool: _Pool, pages: mmap.mmap, used: bool, length: int, dtype: str, first: int = 0
    ) -> None:
        self._pool = pool  # when the interpreter ends, names of this module may be gone before this is
        self.pages = pages
        self.used = used
        self.first = first  # byte
        self.__array_interface__: dict[str, Any] = {
            "shape": (length,),
            "typestr": np.dtype(dtype).str,
            "data": (address_of(pages) + first, False),
            "version": 3,
        }

    def __del__(self) -> None:
        pages = getattr(self, "pages", None)
        if pages is not None:  # else an interrupt came first
            self._pool.give(pages)


_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000) if sys.platform == "linux" else 0
"""Linux maps more than there is memory of any kind where that is asked for: its `mman.h`; Python has no name for it."""

_HELP = "end in a sink, as `|> sum`, or"


def _mapped(size: int, flags: int = 0) -> mmap.mmap | None:
    """Pages of our own; None where there is no room."""
    try:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | flags)
    except OSError:
        return None


def _no_room(text: str) -> MemoryError:
    error = MemoryError(text)
    error.no_room = True  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    return error


def is_no_room(error: BaseException) -> bool:
    """Whether a result has no room, and no function of the user's has raised it."""
    return getattr(error, "no_room", False) is True


def look_after(arrays: Sequence[AnyArray]) -> None:
    """MemoryError where packed results, with room for more than the machine's memory, have taken nearly all of it.

    Otherwise the system would end the process.
    """
    if sum(array.nbytes for array in arrays) >= _physical() and _available() < _physical() >> _RESERVE:
        raise _no_room(f"what is kept does not fit into memory: {_HELP} keep fewer elements")


def look_after_list(length: int) -> None:
    """The same of a list of numbers that grows, and takes more than there is left."""
    taken = length * _BYTES_OF_NUMBER
    if taken > _FREELY and _available() < min(taken, _physical() >> _RESERVE):
        raise _no_room(f"what is listed does not fit into memory: {_HELP} keep fewer elements")


def list_fits(length: int) -> None:
    """MemoryError where so many numbers have no room in a list."""
    if length << 3 > _physical():
        raise _no_room(
            f"a list of {length:,} elements does not fit into memory: {_HELP} go through fewer elements"
        )


_BYTES_OF_NUMBER = 40
"""Of one of Python's, with its place in a list."""
_FREELY = 1 << 29
"""Bytes that a list may take without a look, which takes 0.05 ms."""

_RESERVE = 4
"""A sixteenth of the memory stays free: it takes several ticks to fill."""


@cache
def _physical() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * mmap.PAGESIZE
    except (AttributeError, OSError, ValueError):  # a system that does not say
        return 1 << 62


def _available() -> int:
    """Bytes that can be written to before the system has none."""
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text("ascii"))
    except OSError:
        found = None
    return _physical() if found is None else int(found[1]) << 10


class _Pool:
    def __init__(self) -> None:
        # Of the thread that has it, too: while it looks for pages, garbage may be collected, and with it some of ours.
        self._lock = free_when_forking(threading.RLock())
        self._free: list[mmap.mmap] = []
        self.closed = False

    def take(self, size: int, packed: bool) -> tuple[mmap.mmap, bool]:
        """Pages for `size` bytes, and whether they were used before; `packed`: few of them may be written."""
        with self._lock:
            fitting = [pages for pages in self._free if size <= len(pages) <= 2 * size]
            if fitting:
                best = min(fitting, key=len)
                self._free.remove(best)
                return best, True
            self._free.clear()
        rounded = -(-size // _HUGE_PAGE) * _HUGE_PAGE
        pages = _mapped(rounded) or (_mapped(rounded, _NO_RESERVE) if packed and _NO_RESERVE else None)
        if pages is None:
            what = "room for a result of up to" if packed else "a result of"
            raise _no_room(
                f"{what} {size:,} bytes does not fit into memory: {_HELP} go through fewer elements"
            )
        if hasattr(mmap, "MADV_HUGEPAGE"):
            pages.madvise(mmap.MADV_HUGEPAGE)
        return pages, False

    def has(self, size: int) -> bool:
        with self._lock:
            return any(size <= len(pages) <= 2 * size for pages in self._free)

    def drop(self) -> None:
        with self._lock:
            self._free.clear()

    def give(self, pages: mmap.mmap) -> None:
        if self.closed:
            return
        with self._lock:
            if sum(map(len, self._free)) + len(pages) <= KEPT:
                self._free.append(pages)

    def kept_bytes(self) -> int:
        with self._lock:
            return sum(map(len, self._free))

    def close(self) -> None:
        """Nothing is kept any more: the interpreter ends."""
        self.closed = True


_pool = _Pool()
atexit.register(_pool.close)
_guarded = False
_ALIGNMENT = 64
"""Of a result's first byte: a vector, as stores past the caches need it."""


def guard(on: bool = True) -> None:
    """From now on, let each result stand between pages that cannot be written: a store just beside it is a fault."""
    global _guarded  # noqa: PLW0603  a process that tries kernels does nothing else
    _guarded = on


def _between_guards(length: int, dtype: str, size: int) -> AnyArray:
    """The array's end, but for less than a vector, is the end of its last page."""
    page = mmap.PAGESIZE
    used = -(-size // page) * page
    pages = mmap.mmap(-1, used + 2 * page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    start = np.frombuffer(pages, np.uint8).ctypes.data
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    for place in (start, start + page + used):
        if protect(ctypes.c_void_p(place), ctypes.c_size_t(page), 0):
            raise MemoryError("a result's pages cannot be guarded")
    first = page + used - -(-size // _ALIGNMENT) * _ALIGNMENT
    return np.frombuffer(pages, dtype, length, first)


def allocate(length: int, dtype: str, beside: Sequence[int] = (), *, packed: bool = False) -> AnyArray:
    """Room for `length` elements, with any content. Pages that are never written take no memory.

    `beside`: where elements of this size begin that are read one for each that is written. `packed`: fewer elements may
    be written, and there may be room for more than the machine's memory: see `look_after`. MemoryError.
    """
    size = length * np.dtype(dtype).itemsize
    if _guarded:
        return _between_guards(length, dtype, size)
    if size < _STREAMED:
        return np.empty(length, dtype)
    if size < POOLED:
        anchor = np.empty(size + _ALIGNMENT, np.uint8)
        first = -anchor.ctypes.data % _ALIGNMENT
        return anchor[first : first + size].view(dtype)
    first = _apart(beside)
    return np.asarray(_Pages(_pool, *_pool.take(size + first, packed), length, dtype, first))


_NEAR = 512
"""So many bytes behind a store past the caches a load waits for it, if their places in their pages are alike.

Processors compare no more than these places: loops took ten times as long over arrays that began up to 300 bytes before
the end of a page, as `xs[500:]` does.
"""


def _apart(beside: Sequence[int]) -> int:
    """A place in a page behind which no such load is near; the first one where every place has one."""
    page = mmap.PAGESIZE
    for first in range(0, page, _NEAR):
        if all((each - first) % page <= page - _NEAR for each in beside):
            return first
    return 0


def of_its_own(array: AnyArray) -> AnyArray:
    """A copy that `extended` can put others behind; of a kind for which it cannot, the array itself."""
    return np.array(array) if _grows(array) else array


def extended(array: AnyArray, more: AnyArray) -> bool:
    """Whether these elements of the same type were put behind an array of `of_its_own`, in its own memory.

    Large memory grows by moving its pages: there is no time at which the elements lie there twice.
    """
    if not (_grows(array) and _grows(more) and array.dtype == more.dtype and array.flags.owndata):
        return False
    length = len(array)
    array.resize(length + len(more), refcheck=False)
    array[length:] = more
    return True


def _grows(array: object) -> bool:
    return type(array) is np.ndarray and array.ndim == 1 and not array.dtype.hasobject


def fresh_bytes(array: AnyArray) -> int:
    """Bytes of a result whose pages were written for the first time; 0 where they served another one before."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = cast("Any", owner).base
    return 0 if not isinstance(owner, _Pages) or owner.used else array.nbytes


def trim(array: AnyArray, length: int) -> AnyArray:
    """The first `length` elements; the memory behind them goes back to the system."""
    if length == len(array):
        return array
    owner = array.base
    if not isinstance(owner, _Pages):
        return array[:length].copy()
    if length * array.itemsize < POOLED:
        return array[:length].copy()
    unused = -(-(owner.first + length * array.itemsize) // mmap.PAGESIZE) * mmap.PAGESIZE
    if unused < len(owner.pages) and hasattr(mmap, "MADV_DONTNEED"):
        owner.pages.madvise(mmap.MADV_DONTNEED, unused)
    return array[:length]


def trim_before(array: AnyArray, start: int) -> AnyArray:
    """The elements from `start` on; the memory before them goes back to the system."""
    owner = array.base
    if not start:
        return array
    if not isinstance(owner, _Pages) or (len(array) - start) * array.itemsize < POOLED:
        return array[start:].copy()
    unused = (owner.first + start * array.itemsize) // mmap.PAGESIZE * mmap.PAGESIZE
    if unused and hasattr(mmap, "MADV_DONTNEED"):
        owner.pages.madvise(mmap.MADV_DONTNEED, 0, unused)
    return array[start:]


def needs_fresh(size: int) -> bool:
    """Whether a result of so many bytes would get memory that nothing has used before."""
    return size >= POOLED and not _pool.has(size)


def drop_kept() -> None:
    """Give the memory of freed results back to the system."""
    _pool.drop()


def kept_bytes() -> int:
    """Bytes of freed results that are kept for the next one."""
    return _pool.kept_bytes()
