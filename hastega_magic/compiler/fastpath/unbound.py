"""Variables without a value in ordinary code that Python runs: in a function of its own, which is not to show."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FrameType
from typing import Any


def run_by_python(python: Callable[..., object], *parts: object) -> object:
    """What the code gives, run by Python over its parts, or raises where it was written."""
    try:
        return python(*parts)
    except NameError as error:
        unbound = _local_error(error, python)
        if unbound is None:
            raise
    raise unbound


def _local_error(error: NameError, python: Callable[..., object]) -> UnboundLocalError | None:
    """What the code would have raised where it was written, for what `python` has raised; None if it is the same.

    `python` is a function that the rewritten code has made of its own text. Variables of the code around it are local
    to a comprehension from Python 3.12 on, and free variables of `python`.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = _code(python)
    # What has a frame of its own, as all generators have, has free variables where it was written, too.
    if trace is None or trace.tb_frame.f_code is not code or error.name not in code.co_freevars:
        return None
    around: FrameType | None = inspect.currentframe()
    while around is not None and not any(each is code for each in around.f_code.co_consts):
        around = around.f_back
    if around is None or error.name not in around.f_code.co_cellvars:
        return None  # a variable of a function further out
    found = UnboundLocalError(
        f"cannot access local variable '{error.name}' where it is not associated with a value"
    )
    return found.with_traceback(error.__traceback__ and error.__traceback__.tb_next)


def _code(python: Any) -> Any:
    return python.__code__


__all__ = ["run_by_python"]
