"""Where the memory of arrays lies."""

from __future__ import annotations

import mmap
from ctypes import addressof, c_char
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt


def address_of(memory: npt.NDArray[Any] | mmap.mmap) -> int:
    """The address of contiguous memory that can be written and is not empty: a fifth of what `array.ctypes` costs."""
    buffer: Any = memory
    return addressof(c_char.from_buffer(buffer))


def words_of(data: Any) -> tuple[int, int]:
    """Start and step of a range, or address and stride of an array that is not empty.

    Nothing is kept of an array, not even a weak reference: `resize` would refuse to change it.
    """
    if isinstance(data, range):
        return data.start, data.step
    owned = data.base is None and data.flags.writeable
    return address_of(data) if owned else data.ctypes.data, data.strides[0]


def table_words(data: npt.NDArray[Any]) -> tuple[int, int, int]:
    """Address, bytes of an element, and number of elements of a contiguous array, of any dimensions."""
    return words_of(data)[0] if data.size else data.ctypes.data, data.itemsize, data.size


@cache
def name_of(dtype: np.dtype[Any]) -> str:
    """`dtype.name`, which NumPy puts together anew each time."""
    return dtype.name


__all__ = ["address_of", "name_of", "table_words", "words_of"]
