"""Names of functions and generators inside ordinary code, and places of errors, as if nothing were made around it.

f.<locals>.<lambda>.<locals>.<genexpr>    →    f.<locals>.<genexpr>
"""

from __future__ import annotations

from types import CodeType

from hastega_magic.frames import CALLEES, with_places


def as_written(code: CodeType) -> CodeType:
    """The code, the lambdas made around ordinary code left out of the names of what stands in them.

    The places in them that tracebacks mark are the code's own (`with_places`).
    """
    return _renamed(code, "", "")


def _renamed(code: CodeType, found: str, written: str) -> CodeType:
    """The code and all in it, names that begin with `found` beginning with `written`."""
    name = written + code.co_qualname.removeprefix(found)
    if code.co_varnames[:1] == (CALLEES,):
        found, written = f"{code.co_qualname}.<locals>.", name.removesuffix(code.co_name)
    constants = tuple(
        _renamed(each, found, written) if isinstance(each, CodeType) else each for each in code.co_consts
    )
    return with_places(code.replace(co_qualname=name, co_consts=constants))


__all__ = ["as_written"]
