"""Special methods, which Python looks for in an object's class.

The object itself may answer to any name, as a dict of attributes does (`__getattr__ = dict.get`), or raise.
"""

from __future__ import annotations

import numpy as np


def has(value: object, *names: str) -> bool:
    """Whether the object has one of the special methods."""
    # Not `hasattr` of the class, which has what its own class defines too: those of enums can be gone through.
    spaces = [vars(each) for each in type(value).__mro__]
    return any(name in space for name in names for space in spaces)


def gives_array(value: object) -> bool:
    """Whether the object says that it has numbers of one type, and gives them as an array.

    NumPy's texts and records are a single element to it, and have others to Python.
    """
    given = has(value, "__array__") and hasattr(value, "dtype") and has(value, "__len__")
    return given and not isinstance(value, np.generic)


__all__ = ["gives_array", "has"]
