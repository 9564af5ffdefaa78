"""What is wrong with the arguments that a stage was given, in a sentence."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.python.barriers import called_otherwise
from hastega_magic.runtime.special_methods import has
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.reading.literals import DTYPES, wrong_count
from hastega_magic.syntax.stages import STAGES


def wrong(stage: BoundStage, given: Mapping[str, Any], error: Exception) -> str | None:
    """What is wrong with the arguments, in a sentence; "" where the error says so itself; None: nothing."""
    name = stage.site.name
    row = STAGES[name]
    functions = [row.parameters[place] for place in row.functions]
    if name in ("min", "max"):
        functions = ["key"]
    for parameter in functions:
        value = given.get(parameter)
        if parameter in given and not _callable(name, parameter, value):
            return (
                f"`{name}` takes a function{' as key' if parameter == 'key' else ''}: write `{_form(name)}`"
            )
        if isinstance(value, FunctionType) and isinstance(error, TypeError):
            said = called_otherwise(error, stage, value)
            if said is not None:
                return "" if any(said in note for note in getattr(error, "__notes__", ())) else said
    check = _CHECKS.get(name)
    return None if check is None else check(name, given, error)


def _callable(name: str, parameter: str, value: object) -> bool:
    if callable(value) or (parameter == "other" and name == "where"):
        return True
    return value is None and name in ("filter", "where", "take_while", "drop_while", "scan", "min", "max")


def _form(name: str) -> str:
    """How the stage is written with a function."""
    if name in ("min", "max"):
        return f"{name}(key=lambda x: ...)"
    more = ", ..." if name == "where" else ""
    return f"{name}(lambda {'total, x' if name in ('scan', 'reduce') else 'x'}: ...{more})"


def is_sequence(value: object) -> bool:
    """Whether a pipeline may go through it."""
    if isinstance(value, (np.generic, np.ndarray)):  # some have the methods, and nothing to go through
        return np.iterable(cast("object", value))
    return has(value, "__iter__", "__getitem__", "__arrow_c_stream__", "__arrow_c_array__")


def _beside(name: str, given: Mapping[str, Any], error: Exception) -> str | None:
    if not all(map(is_sequence, (given["other"], *given["rest"]))):
        if name == "dot":
            return "to multiply all elements by one number, write `map(lambda x: x * ...) |> sum`"
        return "to put one value beside each element, write `map(lambda x: (x, ...))`"
    if given.get("strict", False) and str(error).startswith("zip() argument"):
        return "without `strict` it ends with the shortest"
    if name == "dot" and str(error).startswith("dot takes sequences of one length"):
        return "`zip(...) |> map(lambda a, b: a * b) |> sum` ends with the shorter one"
    return None


def _counted(name: str, given: Mapping[str, Any], error: Exception) -> str | None:
    try:
        found = wrong_count(name, operator.index(given["n"]))
    except TypeError:
        return ""
    return None if found is None else _beyond(found, str(error))


def _beyond(sentence: str, said: str) -> str:
    """What a sentence says more than the error."""
    return sentence.removeprefix(said).removeprefix("; ")


def _start(name: str, given: Mapping[str, Any], error: Exception) -> str | None:
    value = given.get("start", 0)
    if name == "enumerate":
        return None if has(value, "__index__") else f"enumerate counts from a whole number, not {value!r}"
    return (
        f"the sum begins with a number, not {value!r}" if isinstance(value, (str, bytes, bytearray)) else None
    )


def _dtype(name: str, given: Mapping[str, Any], error: Exception) -> str | None:
    value = given["dtype"]
    try:
        np.dtype(value)
    except TypeError:
        near = difflib.get_close_matches(value, DTYPES, n=1) if isinstance(value, str) else ()
        return (
            f"did you mean {near[0]!r}?" if near else "types are float, int, bool, or as 'float32' and 'int8'"
        )
    return None


def _bounds(name: str, given: Mapping[str, Any], error: Exception) -> str | None:
    plain = isinstance(error, TypeError) and all(
        value is None or isinstance(value, (int, float, np.number, np.bool_))
        for value in (given["lo"], given["hi"])
    )
    return None if plain or not isinstance(error, TypeError) else "bounds are numbers; None is no bound"


def _freedom(name: str, given: Mapping[str, Any], error: Exception) -> str | None:
    value = given.get("ddof", 0)
    return None if isinstance(value, (int, float, np.number)) else f"ddof is a number: write `{name}(ddof=1)`"


def _least(name: str, given: Mapping[str, Any], error: Exception) -> str | None:
    value = given.get("minlength", 0)
    return None if has(value, "__index__") and value >= 0 else ""


_CHECKS: Mapping[str, Callable[[str, Mapping[str, Any], Exception], str | None]] = {
    "zip": _beside, "dot": _beside, **dict.fromkeys(("take", "drop", "step", "window", "chunk"), _counted),
    "enumerate": _start, "sum": _start, "astype": _dtype, "clip": _bounds, "var": _freedom, "std": _freedom,
    "bincount": _least,
}  # fmt: skip
"""What is looked at of the arguments that are no functions."""


__all__ = ["is_sequence", "wrong"]
