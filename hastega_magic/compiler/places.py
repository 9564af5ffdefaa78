"""What loops read in another form: windows and chunks of many elements by their places, tuples field by field."""

from __future__ import annotations

import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.statement import Bound
from hastega_magic.errors import Span
from hastega_magic.interval import INT64
from hastega_magic.runtime.python_calls import elements, over_tuples
from hastega_magic.syntax.build import BoundStage
from hastega_magic.syntax.neighbours import Over
from hastega_magic.syntax.rules_order import WIDEST
from hastega_magic.syntax.site import StageSite
from hastega_magic.syntax.stages import STAGES

_LONGEST_RANGE = 1 << 24
"""Elements of a range that are put into memory for it."""


def over_places(bound: Bound, value: object, stages: Sequence[BoundStage]) -> tuple[Bound, range] | None:
    """The statement from these stages on as one over places, and these; None where it is no such statement."""
    if len(stages) < 2 or any(stage.callee is not None for stage in stages[:2]):
        return None
    first, second = stages[:2]
    if first.site.name not in ("window", "chunk") or second.site.name != "map":
        return None
    try:
        size = STAGES[first.site.name].bind(first.args, first.kwargs)["n"]
        function = STAGES["map"].bind(second.args, second.kwargs)["f"]
    except TypeError:  # which Python raises
        return None
    data = _sequence(value)
    if data is None or type(size) is not int or not WIDEST < size <= len(data) or not callable(function):
        return None
    step = 1 if first.site.name == "window" else size
    over = Over(function, data, size, step, elements, over_tuples(function))
    text, span = f"{first.site.text} |> {second.site.text}", Span(*first.site.span[:2], *second.site.span[2:])
    joined = replace(second, site=replace(second.site, text=text, span=span), args=(over,), kwargs={})
    places = range(over.places)
    return replace(bound, source=places, stages=(joined, *stages[2:]), varying=frozenset()), places


def over_fields(bound: Bound, value: object, stages: Sequence[BoundStage]) -> tuple[Bound, object] | None:
    """The statement over an array of tuples, a result of a pipeline, as one over its fields side by side."""
    if type(value) is not np.ndarray or not stages:
        return None
    array = cast("np.ndarray[Any, Any]", value)
    fields = array.dtype.names or ()
    if array.ndim != 1 or len(fields) < 2 or any(array.dtype[name].kind not in "biuf" for name in fields):
        return None
    first, *others = (array[name] for name in fields)
    text = f"zip({', '.join(fields[1:])})"
    zipped = BoundStage(StageSite("zip", text, bound.site.source_span, known=True), None, tuple(others))
    return replace(bound, source=first, stages=(zipped, *stages), varying=frozenset()), first


def _sequence(value: object) -> Sequence[Any] | None:
    """What loops can read at any place."""
    if type(value) is range:
        fits = 0 < len(value) <= _LONGEST_RANGE and value[0] in INT64 and value[-1] in INT64
        return cast("Sequence[Any]", np.array(value)) if fits else None
    if type(value) is np.ndarray:
        found = cast("np.ndarray[Any, Any]", value)
        return cast("Sequence[Any]", found) if found.ndim == 1 and found.dtype.kind in "biufc" else None
    return cast("Sequence[Any]", value) if type(value) in (list, tuple, array.array) else None


__all__ = ["over_fields", "over_places"]
