"""Objects that lay their memory open by the buffer protocol: bytes, memoryviews, arrays of `array` and ctypes."""

from __future__ import annotations

import array
import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from hastega_magic.errors import NotCompilable
from hastega_magic.runtime.columnar import Pieces, widened

BUFFERS = (bytes, bytearray, memoryview, array.array, ctypes.Array)
"""Types whose objects lay open the memory that holds their numbers."""
_LENT = (bytes, ctypes.Array, np.ndarray)
"""Owners of memory that stays where it is as long as it is read. Others refuse `append` and the like meanwhile."""


def in_memory(data: bytes | bytearray | memoryview) -> npt.NDArray[Any] | Pieces:
    """Memory whose elements Python makes its own numbers of: floats have 64 bits, whatever their size there.

    New memory where the owner could not be resized, or closed, while loops are kept that read it.
    """
    try:
        view = memoryview(data)
        values = np.asarray(view)
        if type(data) is memoryview:  # which refuses formats with a byte order, as of ctypes, and others
            iter(view)
    except ValueError:
        raise NotCompilable(f"the source is a {type(data).__name__} whose elements are no numbers") from None
    except NotImplementedError:
        raise NotCompilable("the source is a memoryview over which Python cannot iterate") from None
    owner: object = data.obj if isinstance(data, memoryview) else data
    return widened(values if isinstance(owner, _LENT) else values.copy())


__all__ = ["BUFFERS", "in_memory"]
