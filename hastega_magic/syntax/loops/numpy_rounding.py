"""Stages that may round to digits or invert, and those that may give NumPy's numbers, which do so otherwise."""

from __future__ import annotations

import dis
import functools
import operator
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import cast

import numpy as np

from hastega_magic.syntax.closures.attributes import is_disguised
from hastega_magic.syntax.closures.given import defaults_of, is_method
from hastega_magic.syntax.loops.loop import BoundStage
from hastega_magic.syntax.values.graph import NUMPY_NUMBER


def rounds(stage: BoundStage) -> bool:
    """Whether `~` or the name `round`, which may be another's, stands in what the stage may call."""
    seen: set[int] = set()
    return any(_rounds(each, seen) for each in (*stage.args, *stage.kwargs.values()))


def _rounds(given: object, seen: set[int]) -> bool:
    if any(given is each for each in (round, np.round, operator.invert)):
        return True
    if is_disguised(given):
        return False
    if isinstance(given, functools.partial):
        return _rounds(cast("functools.partial[object]", given).func, seen)
    if is_method(given):
        return _rounds(given.__func__, seen)
    if not isinstance(given, FunctionType) or id(given.__code__) in seen:
        return False
    seen.add(id(given.__code__))
    names = set(_names(given.__code__))
    if "round" in names or "__round__" in names or _inverts(given.__code__):
        return True
    around = [given.__globals__.get(name) for name in names]
    return any(_rounds(each, seen) for each in (*around, *_enclosed(given), *defaults_of(given)))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _inverts(code: CodeType) -> bool:
    inner = any(isinstance(each, CodeType) and _inverts(each) for each in code.co_consts)
    return inner or any(each.opname == "UNARY_INVERT" for each in dis.get_instructions(code))


def _enclosed(function: FunctionType) -> Iterator[object]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a name without a value yet
            continue


def begins_with_numpys(stage: BoundStage) -> bool:
    """Whether one of NumPy's floats is given to it: a bound, or what the value so far begins with."""
    return stage.callee is None and _holds_numpys((*stage.args, *stage.kwargs.values()))


def _holds_numpys(values: Iterable[object]) -> bool:
    return any(
        _holds_numpys(cast("tuple[object, ...]", each))
        if type(each) is tuple
        else issubclass(type(each), NUMPY_NUMBER)
        for each in values
    )


def lead_to_digits(stages: Sequence[BoundStage]) -> int:
    """How many stages there are up to the last one that may round what the ones before it give, and not an array."""
    last = 0
    for place, stage in enumerate(stages, 1):
        if not stage.site.known or stage.callee is not None or stage.site.name == "tap":
            break
        if rounds(stage):
            last = place
    return last


__all__ = ["begins_with_numpys", "lead_to_digits", "rounds"]
