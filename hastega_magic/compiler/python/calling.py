"""What a stage calls for an element, as Python does it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from hastega_magic.ir.pipeline import Stage
from hastega_magic.ir.sinks import NEUTRAL
from hastega_magic.runtime import python_elements
from hastega_magic.runtime.python_calls import over_tuples
from hastega_magic.syntax.loops.build import BoundStage


def function_of(stage: Stage, given: BoundStage, sink: str) -> Callable[..., Any]:
    """What the stage calls, as Python does it. `sink`: what its loop ends in."""
    name = given.site.name
    if stage.kind not in ("map", "filter"):
        return operator.truth
    if name in python_elements.ELEMENT_FUNCTIONS:
        return python_elements.ELEMENT_FUNCTIONS[name](*given.args, **given.kwargs)
    if name == "dot":
        return operator.mul
    if name in ("var", "std"):
        return _deviation
    if name in ("sum", "mean", "prod"):  # bools among ints count as these
        return int
    if name in ("min", "max"):
        return _Key(given.kwargs["key"])
    function: Any = given.args[0] if given.args else given.kwargs.get("f")
    function = operator.truth if function is None else function
    if name == "reduce":  # the term that an element adds to what came before
        term = functools.partial(function, NEUTRAL[sink.removeprefix("reduce_")])
        return term if len(given.args) > 1 or "init" in given.kwargs else _Later(term)
    return _Failing(function) if name in ("take_while", "drop_while") else function


def _deviation(value: Any, center: Any) -> Any:
    distance = value - center
    return distance * distance


class _Key:
    """A function that is given tuples whole."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, value: Any) -> Any:
        return self._function(value)


class _Failing:
    """Whether a predicate does not hold."""

    def __init__(self, function: Any) -> None:
        self._holds = over_tuples(function)

    def __call__(self, value: Any) -> bool:
        return not self._holds(value)


class _Later:
    """A function of all elements but the first, which stays as it is."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, number: int, value: Any) -> Any:
        return self._function(value) if number else value


__all__ = ["function_of"]
