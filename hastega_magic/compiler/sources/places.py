"""What loops read in another form: windows and chunks of many elements by their places, tuples field by field."""

from __future__ import annotations

import array
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.python.nodes import has_turns
from hastega_magic.compiler.statement import Bound, Loop, source_span
from hastega_magic.errors import Span
from hastega_magic.frames import reraise_signal
from hastega_magic.interval import INT64
from hastega_magic.ir.rows import ROW_TYPES, SHORT, Rows, by_place, rows_from, taken_apart
from hastega_magic.runtime.objects.fields import MOST, columns
from hastega_magic.runtime.objects.rows import numbers_of
from hastega_magic.runtime.python_calls import elements, over_tuples, takes_one
from hastega_magic.runtime.stream import Stream
from hastega_magic.runtime.strided import rows
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.loops.rules_order import WIDEST
from hastega_magic.syntax.site import Site, StageSite
from hastega_magic.syntax.stages import STAGES
from hastega_magic.syntax.values.neighbours import Over
from hastega_magic.types import STORAGES


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
    except TypeError as error:  # which Python raises
        reraise_signal(error)
        return None
    data = _sequence(value)
    if data is None or type(size) is not int or not WIDEST < size <= len(data) or not callable(function):
        return None
    step = 1 if first.site.name == "window" else size
    over = Over(function, data, size, step, elements, over_tuples(function))
    text, span = f"{first.site.text} |> {second.site.text}", Span(*first.site.span[:2], *second.site.span[2:])
    joined = replace(second, site=replace(second.site, text=text, span=span), args=(over,), kwargs={})
    places = range(over.places)
    site = _counted_from_here(bound, stages)
    rest = (joined, *stages[2:])
    return replace(bound, site=site, source=places, stages=rest, varying=frozenset()), places


def over_rows(bound: Bound, value: object, stages: Sequence[BoundStage]) -> tuple[Bound, range] | None:
    """The statement over rows of numbers as one over their places, and these; None where it is no such statement.

    Rows are what a list or tuple holds that are such themselves, of any length. `filter` may come before `map`.
    """
    if not are_rows(value):
        return None
    computing = len(list(takewhile(lambda each: each.site.name == "filter", stages)))
    behind = stages[computing].site.name if computing < len(stages) else ""
    if behind != "map" and not (computing and behind == "count"):
        return None
    computing += behind == "map"
    if not all(_takes_rows(_function_of(stage)) for stage in stages[:computing]):
        return None
    held = cast("Sequence[Any]", value)
    numbers = numbers_of(held, bounds=True, least=1)
    if numbers is None or numbers.bounds is None:
        return None
    scalar = STORAGES[numbers.flat.dtype.name].scalar
    name = bound.site.source_name if value is bound.source else None
    rows = rows_from(name or "rows", numbers.flat, numbers.bounds, scalar, held)
    return over_these(bound, rows, stages, computing), range(len(rows))


def are_rows(value: Any) -> bool:
    """Whether it is a list or tuple that holds such, as far as its first element tells."""
    return type(value) in ROW_TYPES and type(next(iter(value), None)) in ROW_TYPES


def over_these(bound: Bound, rows: Rows, stages: Sequence[BoundStage], computing: int) -> Bound:
    """The statement over the places of rows; so many of the stages are given rows."""
    given = [
        replace(each, args=(by_place(cast(Any, _function_of(each)), rows),), kwargs={})
        for each in stages[:computing]
    ]
    site = _counted_from_here(bound, stages)
    return replace(bound, site=site, source=range(len(rows)), stages=(*given, *stages[computing:]), rows=rows)


TAKES_FEW = "of long rows few numbers are taken, for which all would be read"


def leaves_most(loop: Loop, rows: Rows) -> bool:
    """Whether the functions take no more than a few numbers of rows that have many."""
    return rows.numbers > SHORT * len(rows) and not any(has_turns(each.fn) for each in loop.pipeline.stages)


def _counted_from_here(bound: Bound, stages: Sequence[BoundStage]) -> Site:
    """The statement's site, in which elements that a stage has made are counted from there, not in the source."""
    return replace(bound.site, source_span=source_span(bound, stages))


def is_table(array: np.ndarray[Any, Any]) -> bool:
    """Whether it is an array of two dimensions, of which the rows are taken apart as tuples are."""
    few = array.ndim == 2 and 1 < array.shape[1] <= MOST
    return few and array.dtype.kind in "biuf" and array.dtype.name in STORAGES


def is_of_row(stage: BoundStage) -> bool:
    """Whether the stage is one that `over_these` has made."""
    return len(stage.args) == 1 and taken_apart(stage.args[0]) is not None


def _function_of(stage: BoundStage) -> object:
    """The function that a stage calls with each element; None where it has none."""
    if stage.callee is not None or stage.site.name not in ("filter", "map"):
        return None
    try:
        return STAGES[stage.site.name].bind(stage.args, stage.kwargs)["f"]
    except TypeError as error:  # which Python raises
        reraise_signal(error)
        return None


def _takes_rows(function: object) -> bool:
    """Whether it is called with a row whole, be it a list or a tuple."""
    return callable(function) and takes_one(function)


def over_fields(bound: Bound, value: object, stages: Sequence[BoundStage]) -> tuple[Bound, object] | None:
    """The statement over tuples of numbers as one over their fields side by side; None where it is no such statement.

    Tuples are the elements of an array, as of a pipeline's result, or, if something is computed of them, of a list.
    """
    wanted = bool(stages) if type(value) in (np.ndarray, Stream) else _computed(stages)
    found = fields(value, lists=bound.apart) if wanted else None
    if found is None:
        return None
    first, *others = found.values()
    text, span = f"zip({', '.join([*found][1:])})", source_span(bound, stages)
    zipped = BoundStage(StageSite("zip", text, span, known=True), None, tuple(others))
    return replace(
        bound, site=_counted_from_here(bound, stages), source=first, stages=(zipped, *stages)
    ), first


def _computed(stages: Sequence[BoundStage]) -> bool:
    """Whether functions make anything of the elements."""
    return any(callable(each) for stage in stages for each in (*stage.args, *stage.kwargs.values()))


def fields(value: object, look: bool = True, lists: bool = False) -> dict[str, Any] | None:
    """The numbers of each field of tuples, by its name; None for anything else. The rest is as `columns` has it."""
    if type(value) is np.ndarray:
        array = cast("np.ndarray[Any, Any]", value)
        if lists and array.ndim == 2:
            found = {f"column {number}": array[:, number] for number in range(array.shape[1])}
            return found if is_table(array) else None
        names = array.dtype.names or ()
        if array.ndim != 1 or len(names) < 2 or any(array.dtype[name].kind not in "biufc" for name in names):
            return None
        return {name: array[name] for name in names}
    if isinstance(value, Stream):
        return {f"f{n}": row for n, row in enumerate(rows(value))} if len(value.fields) > 1 else None
    found = columns(value, look, lists)
    return None if found is None else {f"field {number}": each for number, each in enumerate(found)}


def _sequence(value: object) -> Sequence[Any] | None:
    """What loops can read at any place."""
    if type(value) is range:
        return value if value and value[0] in INT64 and value[-1] in INT64 else None
    if type(value) is np.ndarray:
        found = cast("np.ndarray[Any, Any]", value)
        return cast("Sequence[Any]", found) if found.ndim == 1 and found.dtype.kind in "biufc" else None
    return cast("Sequence[Any]", value) if type(value) in (list, tuple, array.array) else None


__all__ = [
    "TAKES_FEW",
    "are_rows",
    "fields",
    "is_of_row",
    "is_table",
    "leaves_most",
    "over_fields",
    "over_places",
    "over_rows",
    "over_these",
]
