"""Arrays without elements that Python made: of the type that compiled loops give, which know what elements would be.

Iterators are gone through by then: the first element that they gave tells.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.statement import Bound, Loop, build_loop, element_structure
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import NotCompilable
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.expr import structure
from hastega_magic.ir.pipeline import Fn, Pipeline, Sink
from hastega_magic.runtime import python, results
from hastega_magic.runtime.python_calls import iterated
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.runtime.special_methods import has
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.loops.rules_order import WIDEST
from hastega_magic.syntax.stages import STAGES
from hastega_magic.types import BOOL, FLOAT, INT, RESULT_STORAGE, ScalarType


def is_empty(value: object) -> bool:
    """Whether it is an array without elements."""
    return type(value) is np.ndarray and value.shape == (0,)


def of_nothing(source: object, stages: Sequence[python.StageCall]) -> object:
    """What Python computes over a source without elements, for which no function is called.

    UNTOLD where there are elements, or a stage may show that it ran, and for arrays, whose type loops know, and errors.
    """
    if not (is_empty(source) or (type(source) in _SEQUENCES and not source)):
        return UNTOLD
    for name, callee, args, kwargs in stages:
        if callee is not None or name not in STAGES or name == "tap":
            return UNTOLD
        beside = (*args, *kwargs.values()) if name in ("zip", "dot") else ()
        if not all(type(each) in _SEQUENCES for each in beside):
            return UNTOLD
    try:
        found = python.run(source, stages)
    except Exception as error:
        reraise_signal(error)
        return UNTOLD
    return UNTOLD if isinstance(found, np.ndarray) else found


UNTOLD = object()
_SEQUENCES = frozenset({list, tuple, range})


def first_kept(source: Iterator[object]) -> tuple[Iterator[object], list[object]]:
    """The same elements, drawn one by one, and a list that holds the first one once it was drawn."""
    kept: list[object] = []

    def parts() -> Iterator[Iterable[object]]:
        for first in source:
            kept.append(first)
            yield kept
            yield source  # by itself, in C
            return

    return itertools.chain.from_iterable(parts()), kept


def by_python(bound: Bound, source: object) -> object:
    """What Python computes for the statement over the source."""
    from hastega_magic.compiler.sources.iterators import goes_its_own_way

    given, first = source, bound.stages[0]
    known = first.callee is None and first.site.known and first.site.name != "tap"
    if known and (isinstance(source, Iterator) or goes_its_own_way(source)):
        given, source = first_kept(iterated(source))
    return typed(python.run(given, bound.calls()), bound, source)


def typed(value: Any, bound: Bound, source: object) -> Any:
    """What Python computed for a statement; an array without elements in the loop's type, where there is a loop."""
    if not is_empty(value) or _decided(bound.stages) or not all(each.site.known for each in bound.stages):
        return value
    try:
        return _made(bound, source)
    except Exception as error:  # what has no compiled form, such as objects, leaves Python's array as it is
        reraise_signal(error)
        return value


def like(value: Any, source: object, stages: Sequence[BoundStage]) -> Any:
    """What Python computed over an iterator of the source's elements, as it would have over the source itself."""
    return python.as_result([], source) if is_empty(value) and not _decided(stages) else value


def stored(value: Any, loop: Loop) -> Any:
    """What Python computed in place of a loop; an array without elements in the loop's type."""
    if not is_empty(value) or _decided(loop.stages):
        return value
    found = _stored(loop.pipeline)
    return value if found is None else _array(found)


def _decided(stages: Sequence[BoundStage]) -> bool:
    """Whether the last stage decides about the type: a callable of the user's, `astype`, or `bincount`."""
    return bool(stages) and (stages[-1].callee is not None or stages[-1].site.name in _TYPED)


def _made(bound: Bound, source: object) -> AnyArray:
    """What loops would give, one after the other.

    Where there is none, the type is that of the elements so far, which a function that has no loop leaves as they are.
    """
    from hastega_magic.compiler.sources.iterators import is_of_python, iterable

    if is_of_python(source) and not has(source, "__next__"):
        source = iterable(source)
    given = source
    # These need a run to be compiled, and leave elements as they are.
    stages = [stage for stage in bound.stages if stage.site.name not in ("take_while", "drop_while")]
    while stages:
        found, taken = _by_loop(bound, source, stages)
        if taken:
            source = _array(found)
        elif has(source, "__next__"):
            raise NotCompilable("an iterator that was gone through tells nothing")
        elif not is_empty(source):
            source = _of_source(source)
        else:
            source, taken = _past(stages[0], cast(AnyArray, source)), 1
        stages = stages[taken:]
    made = is_empty(source) and source is not given  # an int8 is an int behind any stage
    return cast(AnyArray, source) if made else _of_source(source)


def _by_loop(bound: Bound, source: object, stages: Sequence[BoundStage]) -> tuple[object, int]:
    """The types of an element of the longest loop over the source, and how many of the stages are in it."""
    from hastega_magic.compiler.sources.places import over_fields

    by_field = over_fields(bound, source, stages)
    over, value = by_field or (bound, source)
    # With a stage of its own in front, where it goes over fields.
    ahead = [] if by_field is None else list(over.stages[:1])
    loop, _, probe = build_loop(over, value, [*ahead, *stages], Workspace("<empty>"))
    found = None if loop is None or probe is not None else _stored(loop.pipeline)
    return found, 0 if loop is None or found is None else len(loop.stages) - len(ahead)


_TYPED = frozenset({"astype", "bincount"})
_PASSING = frozenset({"filter", "tap", "reverse", "drop", "take", "step"})
"""Stages whose elements are of the type that they are given, compiled or not."""
_NEIGHBOURS = frozenset({"window", "chunk"})
_FIELDS = 1 << 12
"""Neighbours that become fields of an empty array; a type of a million fields takes minutes to make."""
_GIVEN: Mapping[int, ScalarType] = {
    **dict.fromkeys(map(id, (len, ord, hash, id, int)), INT), **dict.fromkeys(map(id, (bool, callable)), BOOL),
    id(float): FLOAT,
}  # fmt: skip
"""What Python's own functions give, also for elements that no loop has, such as texts."""


def _past(stage: BoundStage, source: AnyArray) -> AnyArray:
    """What a stage that is in no loop makes of an array without elements."""
    name, first = stage.site.name, next(iter((*stage.args, *stage.kwargs.values())), None)
    if name in _PASSING:
        return source
    if name == "map" and id(first) in _GIVEN:
        return _array(_GIVEN[id(first)])
    if name == "astype":
        return _of_source(np.empty(0, cast(Any, first)))
    if wide(stage) and type(first) is int and first <= _FIELDS:
        return _array((Workspace("<empty>").source(source).structure,) * first)
    return python.as_result([], source)


def wide(stage: BoundStage) -> bool:
    """Whether it gives tuples of its neighbours that no loop handles side by side."""
    sizes: Any = (*stage.args, *stage.kwargs.values())
    return stage.callee is None and stage.site.name in _NEIGHBOURS and any(_is_wide(each) for each in sizes)


def _is_wide(size: object) -> bool:
    return type(size) is int and size > WIDEST


def _of_source(source: Any) -> AnyArray:
    """An array without elements of a source's type; where loops do not know it, of that of its first element.

    Of several types it is Python's. How tuples differ is not looked at: there may be many.
    """
    try:
        return _array(Workspace("<empty>").source(source).structure)
    except NotCompilable:
        elements: Any = ()
        if type(source) is np.ndarray and source.dtype.names:
            elements = np.zeros(1, source.dtype).tolist()
        elif type(source) in _SEQUENCES or _is_of_objects(source):
            elements = source[: len(set(map(type, source))) == 1]
        found = python.as_result(elements)
        known = len(elements) and not found.dtype.hasobject
        return np.empty(0, found.dtype) if known else python.as_result([], source)


def _is_of_objects(value: object) -> bool:
    """Whether it is an array of Python's objects, such as chunks of which the last is shorter."""
    return type(value) is np.ndarray and value.dtype == object and value.ndim == 1


def _stored(pipeline: Pipeline) -> object:
    """The types of an element that the loop stores; None where it stores none."""
    match pipeline.sink:
        case Sink("array"):
            return element_structure(pipeline)
        case Sink("cumsum"):
            found = element_structure(pipeline)
            return INT if found is BOOL else found
        case Sink("scan", fn=Fn() as fn):
            return structure(fn.result)
        case _:
            return None


def _array(structure: object) -> AnyArray:
    if isinstance(structure, ScalarType):
        return np.empty(0, RESULT_STORAGE[structure].name)
    return results.assembled(structure, [_array(part) for part in cast("tuple[object, ...]", structure)])


__all__ = ["UNTOLD", "by_python", "first_kept", "is_empty", "like", "of_nothing", "stored", "typed", "wide"]
