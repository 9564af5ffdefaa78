"""What can be read off compiled code: the functions inside it, and the global names that it reads.

def f(x): return math.sqrt(x.real)        co_names: math, sqrt, real        global_names: math
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from opcode import opmap
from types import CodeType

_LOAD_GLOBAL = opmap["LOAD_GLOBAL"]
"""Its argument is twice the number of a name; the last bit says how it is called."""

_BY_NUMBER = frozenset(opmap[each] for each in ("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS") if each in opmap)
_EXTENDED = opmap["EXTENDED_ARG"]


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code, and that of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


@lru_cache(1024)
def global_names(code: CodeType) -> tuple[str, ...]:
    """Names that the code itself looks up in its globals and builtins, in the order of `co_names`.

    Instructions are of two bytes, an operation and its argument, in front of which stand its higher bytes.
    """
    found: set[int] = set()
    units, higher = code.co_code if code.co_names else b"", 0
    for operation, low in zip(units[::2], units[1::2], strict=True):
        argument = higher | low
        if operation == _LOAD_GLOBAL:
            found.add(argument >> 1)
        elif operation in _BY_NUMBER:
            found.add(argument)
        higher = argument << 8 if operation == _EXTENDED else 0
    return tuple(name for number, name in enumerate(code.co_names) if number in found)


__all__ = ["codes", "global_names"]
