"""Stages that Python runs: their functions made to name the element at which they raise."""

from __future__ import annotations

import functools
import inspect
import re
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from types import FunctionType
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.python.naming import shown, which
from hastega_magic.compiler.python.of_places import at_place
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import PACKAGE, NotCompilable, Reason
from hastega_magic.frames import reraise_signal, signal_behind
from hastega_magic.report.escape import quoted
from hastega_magic.runtime.python_calls import Noted
from hastega_magic.syntax.functions.lower import lower, parameters
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.loops.numpy_rounding import lead_to_digits
from hastega_magic.types import FLOAT, INT


def silent(stage: BoundStage) -> bool:
    """Whether nobody sees when its functions are called: they have compiled forms over numbers, which raise nothing."""
    given = (*stage.args, *stage.kwargs.values())
    return all(_is_silent(each, stage.site.name in _IN_ORDER) for each in given if callable(each))


def _is_silent(function: Any, in_order: bool) -> bool:
    for type_ in (INT, FLOAT):
        value = parameters(type_)
        pair = value, parameters(type_, 1)
        try:
            fn = lower(
                function, pair if in_order else value, Workspace("<barrier>"), pair if in_order else None
            )
        except NotCompilable:
            continue
        return not fn.effects
    return False


FORMLESS = Reason("it has no compiled form")
LOOKED_AT = Reason("`tap` looks at the elements: observation prevents optimisation")


def noted(stages: Sequence[BoundStage], only: str = "", *, classes: bool = False) -> list[BoundStage]:
    """The stages, with a note (PEP 678) on what a function raises: which element, which value, which stage.

    `only`: how the one element is called that the stages are given; elements of several are numbered. `classes`:
    those that are called as functions, too.
    """
    return [_noted(stage, only, classes) if stage.callee is None else stage for stage in stages]


def all_noted(stages: Sequence[BoundStage], source: object) -> list[BoundStage]:
    """The same, classes among the functions, but for one of Python's own that goes over the source.

    Which element that one raises for is found behind it (`name_element`): C goes over them in two thirds of the time.
    """
    lead = int(bool(stages) and _again(stages[0], source))
    return [*stages[:lead], *noted(stages[lead:], classes=True)]


def name_element(error: Exception, stages: Sequence[BoundStage], source: object) -> None:
    """Note on an error which element it was that a class of Python's own, the first function, raised it for."""
    if not stages or not _again(stages[0], source) or _FROM in "".join(getattr(error, "__notes__", ())):
        return
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not frames[-1].f_code.co_filename.startswith(PACKAGE):
        return
    called: Any = stages[0].args[0]
    try:
        for number, value in enumerate(cast("Iterable[Any]", source)):
            if _raised_for(called, value, error):
                error.add_note(f"hastega: {which(f'element {number}', value)}, {_where(stages[0])}")
                return
    except Exception as raised:  # another stage raised, or it cannot be told
        reraise_signal(raised)


def _raised_for(called: Callable[[Any], object], value: object, error: Exception) -> bool:
    """Whether it was this value; what it raises is an end of the search."""
    kind = type(value)
    if kind not in _PLAIN:  # which may do something when it is asked once more
        asked = _BY_NUMBER if called in (int, float, complex) else _BY_ELEMENT
        named = isinstance(error, TypeError) and re.search(rf"[.']{re.escape(kind.__name__)}'", str(error))
        if named and not any(hasattr(kind, each) for each in asked):
            return True
        raise error
    try:
        called(value)
    except Exception as raised:
        if type(raised) is type(error) and raised.args == error.args:
            return True
        raise
    return False


_BY_NUMBER = "__int__", "__index__", "__float__", "__complex__", "__trunc__"
_BY_ELEMENT = "__iter__", "__getitem__"
"""What numbers are made of, and collections; where a type has none of it, each of its values is refused."""

_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None)})
_ONCE_MORE = frozenset({list, tuple, str, bytes, range, set, frozenset, dict})
"""Types of what Python goes over as often as it is asked to, with nobody to notice."""


def _again(stage: BoundStage, source: object) -> bool:
    """Whether the stage is a class of Python's own over what can be gone over once more."""
    function: Any = stage.args[0] if stage.callee is None and stage.args else None
    builtin = isinstance(function, type) and function.__module__ == "builtins"
    if not builtin or stage.site.name not in _OF_ELEMENTS or type(source) not in _ONCE_MORE:
        return False
    return all(type(each) in _PLAIN for each in islice(cast("Iterable[Any]", source), 1))


def _noted(stage: BoundStage, only: str, classes: bool) -> BoundStage:
    name, args, kwargs = stage.site.name, stage.args, stage.kwargs
    if name in (*_OF_ELEMENTS, *_IN_ORDER) and args:
        if isinstance(args[0], type) and not (classes and name in _OF_ELEMENTS):
            return stage
        return replace(stage, args=(_noting(stage, args[0], only), *args[1:]))
    if name in _BY_KEY and "key" in kwargs and not isinstance(kwargs["key"], type):
        return replace(stage, kwargs={**kwargs, "key": _noting(stage, kwargs["key"], only)})
    return stage


_OF_ELEMENTS = "map", "filter", "take_while", "drop_while", "where"
_IN_LOOPS = frozenset({*_OF_ELEMENTS, "scan"})
"""Stages that call a function in a loop of their own."""
_BY_KEY = "min", "max"
_IN_ORDER = "scan", "reduce"
_TWO = "the value so far and an element: write `{}(lambda total, x: ...)`"


def _noting(stage: BoundStage, function: object, only: str) -> object:
    site = stage.site
    if not callable(function) or isinstance(function, np.ufunc):
        return function  # its signature decides how tuples are passed
    called, in_order = cast("Callable[..., Any]", function), site.name in _IN_ORDER
    # Without a start the first element is one.
    number = int(in_order and len(stage.args) < 2 and not stage.kwargs) - 1

    def note(error: Exception, number: int, args: tuple[Any, ...]) -> None:
        if signal_behind(error) is not None:  # it came while the element was computed, and is not of it
            return
        value, so_far = args[0] if len(args) == 1 else args, ""
        place = at_place(called, value)
        if place is not None:
            number, value, so_far = place.number, place.start, ""
        if in_order and len(args) == 2:
            value, so_far = args[1], f", with {shown(args[0])} so far"
        where = _where(stage)
        element = which(only or f"element {number}", value)
        error.add_note(f"hastega: {element}{so_far}, {where}")
        if not isinstance(error, TypeError):
            return
        if not _fits(called, args):
            error.add_note(f"hastega: {_as_given(site.name, value)}")
        elif isinstance(value, tuple) and "tuple" in str(error):
            error.add_note(f"hastega: {_of_tuples(site.name, cast('tuple[Any, ...]', value))}")

    def call(*args: Any) -> Any:
        nonlocal number
        number += 1
        try:
            return called(*args)
        except Exception as error:
            note(error, number, args)
            raise

    if site.name in _IN_LOOPS:
        return Noted(called, note)
    return functools.update_wrapper(call, called)


_FROM = "(cell line "


def _where(stage: BoundStage) -> str:
    """How a note names the stage."""
    return f"in {quoted(stage.site.text)} {_FROM}{stage.site.span.line})"


def _fits(function: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether the function can be called with so many arguments."""
    try:
        inspect.signature(function).bind(*args)
    except TypeError:
        return False
    except ValueError:  # it has no signature
        return True
    return True


def note_signature(error: TypeError, stages: Sequence[BoundStage]) -> None:
    """Say how a stage's function is written that could not be called with what `scan` and its like give it."""
    for stage in stages:
        function = stage.args[0] if stage.args else None
        if stage.callee is None and isinstance(function, FunctionType):
            said = called_otherwise(error, stage, function)
            if said is not None:
                error.add_note(f"hastega: {said}")
                return


def called_otherwise(error: TypeError, stage: BoundStage, function: FunctionType) -> str | None:
    """How the stage calls the function, if that is what the function refused; None where it has begun to run."""
    if any(frame.f_code is function.__code__ for frame, _ in traceback.walk_tb(error.__traceback__)):
        return None
    name = stage.site.name
    given = (None, None) if name in _IN_ORDER else (None,)
    called = _called(name)
    if called is None or _fits(function, given):
        return None
    return f"`{name}` calls its function with {called}"


def _called(stage: str) -> str | None:
    """What a stage calls its function with, and how one is written; None where tuples may be taken apart."""
    if stage in _IN_ORDER:
        return _TWO.format(stage)
    if stage in _BY_KEY:
        return f"one element: write `{stage}(key=lambda x: ...)`"
    if stage in ("take_while", "drop_while", "where"):
        return f"one element: write `{stage}(lambda x: ...)`"
    return None


def _as_given(stage: str, value: object) -> str:
    """How a function is written that the stage can call."""
    called = _called(stage)
    if called is not None:
        return f"`{stage}` calls its function with {called}"
    if not isinstance(value, tuple):
        return f"`{stage}` calls its function with one element: write `{stage}(lambda x: ...)`"
    names = _names(cast("tuple[Any, ...]", value))
    each = f", or `{stage}(lambda {names}: ...)`" if len(names) > 1 else ""
    return f"the elements are tuples: write `{stage}(lambda t: ...)`{each}"


def _of_tuples(stage: str, value: tuple[Any, ...]) -> str:
    """How a function is written that took a tuple for a number."""
    names = _names(value)
    apart = (
        f"write `{stage}(lambda {names}: ...)`, or " if 1 < len(value) <= 4 and _called(stage) is None else ""
    )
    return f"the elements are tuples: {apart}`x[0]` is the first part of an element `x`"


def _names(value: tuple[Any, ...]) -> str:
    """Names for the parts of an element."""
    return ", ".join("abcdefgh"[: len(value)])


def together(stages: Sequence[BoundStage]) -> Sequence[BoundStage]:
    """The stages that Python runs in one pass: up to the last one that could tell whether they were.

    That is a stage with side effects of its own, or one that may not ask for all of its elements, or that rounds
    to digits what may be NumPy's floats.
    """
    last = max(0, lead_to_digits(stages) - 1)
    for place, stage in enumerate(stages):
        name = stage.site.name if stage.callee is None else ""
        if not any(name in each for each in (_ELEMENTWISE, _PERHAPS_SHORT, _OF_FUNCTIONS, _PARTICULAR)):
            break
        if place and (name in _PERHAPS_SHORT or name in _PARTICULAR or not silent(stage)):
            last = max(last, place)
    return stages[: last + 1]


def may_end_early(stages: Sequence[BoundStage]) -> bool:
    """Whether some stage may not ask for all elements."""
    return any(stage.callee is None and stage.site.name in _PERHAPS_SHORT for stage in stages)


def arranged(stages: Sequence[BoundStage], rest: Sequence[BoundStage]) -> int:
    """How many stages Python had better run itself, before one that it runs element by element: all of these, or none.

    These only put elements into tuples: a loop would store them in columns, for Python to make the tuples all the same.
    """
    behind = rest[len(stages) :]
    if not behind or not _of_elements(behind[0]):
        return 0
    return len(stages) if all(each.site.name in _ARRANGING for each in stages) else 0


def _of_elements(stage: BoundStage) -> bool:
    return stage.callee is None and stage.site.known and stage.site.name in _ELEMENTWISE


_ARRANGING = frozenset({"window", "chunk", "zip", "enumerate"})


def looked_into(stage: BoundStage) -> bool:
    """Whether its functions tell which stages Python runs together."""
    return stage.callee is None and stage.site.name in _OF_FUNCTIONS


_ELEMENTWISE = frozenset({
    "map", "filter", "zip", "enumerate", "drop", "astype", "clip", "where", "drop_while", "step", "window", "chunk",
    "scan", "cumsum",
})  # fmt: skip
_PERHAPS_SHORT = frozenset({"take", "any", "all", "zip", "take_while", "first"})
_OF_FUNCTIONS = frozenset({
    "map", "filter", "where", "take_while", "drop_while", "scan", "reduce", "min", "max",
})  # fmt: skip
_PARTICULAR = frozenset({"astype", "bincount", "dot"})
"""Stages that raise for some numbers, or draw from another source as well."""
