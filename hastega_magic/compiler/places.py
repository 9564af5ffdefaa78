"""Windows and chunks of many elements, with a function over each: a loop over their places."""

from __future__ import annotations

import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.statement import Bound
from hastega_magic.errors import Span
from hastega_magic.runtime.python_calls import elements, over_tuples
from hastega_magic.syntax.build import BoundStage
from hastega_magic.syntax.neighbours import Over
from hastega_magic.syntax.rules_order import WIDEST
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


def _sequence(value: object) -> Sequence[Any] | None:
    """What loops can read at any place."""
    if type(value) is range:
        fits = (
            len(value) <= _LONGEST_RANGE
            and min(value[:1] or (0,)) >= -(1 << 63)
            and max(value[-1:]) < 1 << 63
        )
        return cast("Sequence[Any]", np.array(value)) if fits else None
    if type(value) is np.ndarray:
        found = cast("np.ndarray[Any, Any]", value)
        return cast("Sequence[Any]", found) if found.ndim == 1 and found.dtype.kind in "biufc" else None
    return cast("Sequence[Any]", value) if type(value) in (list, tuple, array.array) else None


__all__ = ["over_places"]
