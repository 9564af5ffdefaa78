"""Special methods, which Python looks for in an object's class.

The object itself may answer to any name, as a dict of attributes does (`__getattr__ = dict.get`), or raise.
"""

from __future__ import annotations


def has(value: object, *names: str) -> bool:
    """Whether the object has one of the special methods."""
    kind = type(value)
    return any(hasattr(kind, name) for name in names)


__all__ = ["has"]
