"""Ordinary code over NumPy's scalars: what type each value has by NumPy's rules, and where its values are not Python's.

    [x * 3 for x in xs]        elements of an int32 array: np.int32, computed as Python's int, and checked to be one
                               that int32 holds; where it is not, NumPy wraps and warns, and does so itself

The loop computes as always; `numpys_rules.py` adds the checks to the functions of its stages.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Value, const, leaf, make
from hastega_magic.ir.pipeline import Fn, Pipeline, Sink, Source, Stage
from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.numpys_rules import (
    Kind,
    Kinds,
    Rules,
    flat,
    is_int,
    is_numpy,
    named,
    tried,
)
from hastega_magic.types import INT, Composite


@dataclass(frozen=True)
class Scalars:
    """What a loop over NumPy's scalars gives: `kinds` of an element of its result, or of its value.

    `most`: over how many elements at most the loop may run (None: any number). `filtered`: there may be none.
    `summed`: the value is a sum. `begun`: what a reduction began with, numbers of other kinds; () if of these.
    """

    kinds: Kinds
    most: int | None = None
    filtered: bool = False
    summed: bool = False
    begun: tuple[object, ...] = ()


def by_numpys_rules(
    pipeline: Pipeline,
    kind_of: Callable[[Source], Kind],
    tables: Sequence[Kind],
    length: int,
    begun: tuple[object, ...] = (),
    starts: Container[int] = (),
) -> tuple[Pipeline, Scalars]:
    """The pipeline with its checks, and what it gives.

    `kind_of`: of a source's elements; `tables`: of the elements of the captured arrays, by slot; `begun`: what a
    reduction is given to begin with, if it is; `starts`: keys of the numbers that may be others in each run.
    NotCompilable with the reason where NumPy's result would be another, or is not known.
    """
    if any(map(_complex, (pipeline.source, *pipeline.stages))):
        raise NotCompilable("NumPy's complex numbers are left to NumPy")
    kinds: Kinds = kind_of(pipeline.source)
    stages: list[Stage] = []
    for stage in pipeline.stages:
        match stage.kind:
            case "zip":
                kinds = (kinds, *map(kind_of, stage.sources))
            case "enumerate":
                kinds = (int, kinds)
            case "map" | "filter":
                assert stage.fn is not None
                fn, found = Rules(stage.fn, kinds, tables).changed(stage.kind == "map")
                stage = replace(stage, fn=fn)  # noqa: PLW2901
                kinds = found if stage.kind == "map" else kinds
            case _:
                raise NotCompilable(f"`{stage.kind}` over NumPy's scalars is left to NumPy")
        stages.append(stage)
    filtered = any(stage.kind == "filter" for stage in stages)
    sink = pipeline.sink
    if sink.fn is not None:
        fn, result = _stepped(sink, sink.fn, kinds, tables, begun)
        if filtered and result.begun and any(each.key in starts for each in sink.init):
            raise NotCompilable("what it begins with keeps changing, and may be all that is left")
        return replace(pipeline, stages=tuple(stages), sink=replace(sink, fn=fn)), replace(
            result, filtered=filtered
        )
    stages, result = _ended(sink, stages, kinds, length)
    return replace(pipeline, stages=tuple(stages)), replace(result, filtered=filtered)


_BECOMES = {(float, np.float64), (int, np.int64), (int, np.float64)}
"""Of what kinds the value so far may become behind the first step, which computes the same bits with either.

An int becomes a float where the loop begins with it converted, which it does if the step's operators convert it.
"""


def _stepped(
    sink: Sink, fn: Fn, element: Kinds, tables: Sequence[Kind], begun: tuple[object, ...]
) -> tuple[Fn, Scalars]:
    """A reduction's function with its checks, and what it gives.

    The first step is given what it begins with, all others what the one before gives.
    """
    so_far, _ = cast("tuple[Value, Value]", fn.params)
    first = _begun(begun[0], so_far) if begun else element
    _, found = Rules(fn, (first, element), tables).changed(True)
    changed, later = Rules(fn, (found, element), tables).changed(True)
    became = [pair for pair in zip(flat(first), flat(found), strict=True) if pair[0] is not pair[1]]
    if later != found or not _BECOMES.issuperset(became):
        names = " and ".join(dict.fromkeys(named(each) for pair in became for each in pair))
        raise NotCompilable(f"the value so far would be {names} by NumPy's rules: NumPy computes it")
    return changed, Scalars(found, begun=() if found == first else begun)


def _begun(value: Any, so_far: Value) -> Kinds:
    """The kinds of what a reduction begins with."""
    if isinstance(so_far, Composite):
        raise NotCompilable("NumPy's complex numbers are left to NumPy")
    if isinstance(so_far, tuple):
        return tuple(map(_begun, value, so_far))
    return cast("Kind", type(value))


def _complex(part: Source | Stage) -> bool:
    """Whether complex numbers take part."""
    if isinstance(part, Source):
        return bool(part.parts)
    return any(map(_complex, part.sources)) or (part.fn is not None and _holds_complex(part.fn.result))


def _holds_complex(value: Value) -> bool:
    return isinstance(value, Composite) or (isinstance(value, tuple) and any(map(_holds_complex, value)))


def _ended(sink: Sink, stages: list[Stage], kinds: Kinds, length: int) -> tuple[list[Stage], Scalars]:
    """The stages and the result's kind with the sink."""
    if sink.kind in ("any", "all", "count"):
        return stages, Scalars(int if sink.kind == "count" else bool)
    if any(each is None for each in flat(kinds)):
        raise NotCompilable("the result would be Python's for some elements and NumPy's for others")
    if sink.kind in ("array", "to_list") or not is_numpy(kinds):
        return stages, Scalars(kinds)
    if sink.kind in ("min", "max"):
        return stages, Scalars(kinds)
    if sink.kind != "sum":
        raise NotCompilable(f"`{sink.kind}` of elements of type {named(kinds)} is left to NumPy")
    if kinds is np.float32:
        raise NotCompilable(
            "a sum of float32 rounds at every step, in the order of the elements: NumPy computes it"
        )
    total = tried("add", (0, kinds(1)))
    if is_int(kinds):
        bits = length.bit_length()
        limits: Any = np.iinfo(kinds)
        added = _within(kinds, int(limits.min) >> bits if limits.min else 0, int(limits.max) >> bits, sink)
        return [*stages, added], Scalars(total, (1 << bits) - 1, summed=True)
    return stages, Scalars(total, summed=True)


def _within(kind: Kind, least: int, most: int, sink: Sink) -> Stage:
    """A stage that lets elements pass whose sum cannot leave the type, whatever their order."""
    element = leaf("param", INT, 0)
    fn = Fn(element, make("fits", element, const(least), const(most)), (), sink.text, sink.span)
    return Stage("map", sink.text, sink.span, fn)


__all__ = ["Scalars", "by_numpys_rules"]
