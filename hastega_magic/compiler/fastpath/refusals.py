"""Why ordinary code is left to Python before any of its elements is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import cast

from hastega_magic.compiler.fastpath.given_objects import NAN
from hastega_magic.compiler.fastpath.guards import Display
from hastega_magic.compiler.fastpath.pauses import Pauses
from hastega_magic.compiler.fastpath.replaced import REPLACED, are_in_place
from hastega_magic.compiler.options import Options
from hastega_magic.syntax.closures.attributes import is_disguised
from hastega_magic.syntax.closures.numbers import SCALARS
from hastega_magic.syntax.closures.numpy_read import numpy_read
from hastega_magic.syntax.closures.reachable import may_read
from hastega_magic.syntax.ordinary.parts import Ordinary
from hastega_magic.syntax.site import StageSite

_ASKED_FOR = "`--on python` was asked for"
_SEES = "a function that it calls may read variables that it gives values"
RAISED = "an element raised, or there was none: Python ran it again, from the first one"
_RAISED_BEFORE = "elements raised, or there were none, in the runs before"


def refused(
    code: Ordinary,
    options: Options,
    pauses: Pauses,
    callees: Sequence[object],
    functions: Sequence[object],
) -> str:
    """Why nothing is tried whatever it is given; "" if it may be."""
    if options.on == "python":
        return _ASKED_FOR
    if not are_in_place():
        return REPLACED
    if any(callee is not expected for callee, expected in zip(callees, code.expected, strict=True)):
        return "a name that it calls is not Python's own function here"
    if any(is_disguised(each) for number, each in enumerate(functions) if number not in code.made):
        return "a function of it is an object that is asked what it is, which runs code of its own"
    if pauses.for_nan():
        return NAN
    return _RAISED_BEFORE if pauses.for_raising() else ""


def numpys_among(stages: Sequence[StageSite], displays: Sequence[Display]) -> str:
    """What the functions read of NumPy's, and what reductions begin with, which first steps compute with.

    As `numpy_read` has it; but scalars to begin with count as elements of arrays do. `displays`: of last stages
    perhaps none.
    """
    waiting = [
        each
        for site, (_, arguments, _) in zip(stages, displays, strict=False)
        for each in arguments
        if callable(each) or site.name == "reduce"
    ]
    others, scalars = list[object](), False
    while waiting:
        each = waiting.pop()
        if type(each) is tuple:
            waiting += cast("tuple[object, ...]", each)
        elif type(each) in SCALARS:
            scalars = True
        else:
            others.append(each)
    return numpy_read(others) or ("arrays" if scalars else "")


def may_see(code: Ordinary, displays: Sequence[Display]) -> str:
    """Why loops, which give its variables no values in between, are not to do it; "" if none of its functions sees."""
    given = (each for _, arguments, _ in displays for each in arguments if type(each) is FunctionType)
    return _SEES if code.shared and may_read(given, code.shared) else ""


def sentence(error: Exception) -> str:
    """An error's reason without the stage: all of the code is Python's."""
    text = str(error)
    return text.partition(" is not compiled: ")[2] or text


__all__ = ["RAISED", "may_see", "numpys_among", "refused", "sentence"]
