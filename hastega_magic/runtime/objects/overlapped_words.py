"""The words that the native code of `overlapped.py` shares with it."""

from __future__ import annotations

STATE, NEXT, ACTIVE, MADE, FAILED, HERE = range(0, 48, 8)
"""Words of a job that threads write to, each on a cache line of its own: whether chunks may be claimed, the next one to
claim, threads that are at one, chunks whose objects are made, what went wrong, threads that have come."""

CHUNK, LENGTH, STOP, RING, WIDTH, ROWS, BASES, STEPS, RINGS, KERNEL, KERNEL_WORDS, LISTS, READERS = range(
    48, 61
)
"""Elements of a chunk; of all; the chunk to stop before; chunks in memory at a time; words of a row; the rows, one
for each of those; what words of a row are: base + chunk's number * step + place in the ring * stride; the loop's code,
and its words at a row's beginning; sources that are lists, and the code that reads them, whose words follow."""

DONE, SHARED_BYTES, COUNT_AT, STORE, MAKE, MAKER, LIST, OWN, HEADS, REALLOC, FREE, WORDS = range(61, 73)
"""For each place in the ring the number of the last chunk that was computed there, from 1; bytes of the words that a
run of the loop begins with as zeros; where it says how many elements are kept (-1: all are); the row's word with the
address of its results; the code that makes objects, and its words; the list; and the row's first word for the
source whose objects are taken instead (`reused.py`); for each source that is a list where its length stands, and the
address of its items; and Python's own functions for the memory of items."""

CLOSED, OPEN, OVER = range(3)
"""Values of STATE: nobody is to begin a chunk; chunks are there; nothing more comes."""

WRONG, NO_MEMORY = 1, 2
"""Values of FAILED: an element is of another type, or the loop cannot compute it; there is no memory for an object."""

READER_WORDS = 8
"""Of a row, for each list: those of `lists.py`, and two unused."""

HELPS, LEADS, FITS = -1, -2, -3
"""Words of `own`: the role (any other number: wait until so many helpers have come) and the scratch. FITS: the list
gives back the room that it does not use."""
