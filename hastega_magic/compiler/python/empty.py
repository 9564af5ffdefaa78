"""Arrays without elements that Python made: of the type that compiled loops give, which know what elements would be."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from hastega_magic.compiler.statement import Bound, build_loop, element_structure
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.ir.expr import structure
from hastega_magic.ir.pipeline import Fn, Pipeline, Sink
from hastega_magic.runtime import results
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.types import BOOL, INT, RESULT_STORAGE, ScalarType


def is_empty(value: object) -> bool:
    """Whether it is an array without elements."""
    return type(value) is np.ndarray and value.shape == (0,)


def typed(value: Any, bound: Bound, source: object) -> Any:
    """What Python computed for a statement; an array without elements in the loop's type, where there is a loop."""
    if not is_empty(value):
        return value
    last = bound.stages[-1]
    if (
        last.callee is not None
        or last.site.name == "astype"
        or not all(each.site.known for each in bound.stages)
    ):
        return value
    try:
        made = _made(bound, source)
    except Exception:  # what has no compiled form, such as an iterator, leaves Python's array as it is
        return value
    return value if made is None else made


def _made(bound: Bound, source: object) -> AnyArray | None:
    """What loops would give, one after the other; None where no loops give it."""
    from hastega_magic.compiler.sources.drawn import is_of_python, iterable
    from hastega_magic.compiler.sources.places import over_fields

    if is_of_python(source) and not hasattr(source, "__next__"):
        source = iterable(source)
    bound, source = over_fields(bound, source, bound.stages) or (bound, source)
    workspace = Workspace("<empty>")
    # These need a run to be compiled, and leave elements as they are.
    stages = [stage for stage in bound.stages if stage.site.name not in ("take_while", "drop_while")]
    if not stages:
        return _array(workspace.source(source).structure)
    made: AnyArray | None = None
    while stages:
        loop, _, probe = build_loop(bound, source, stages, workspace)
        found = None if loop is None or probe is not None or loop.built.tail else _stored(loop.pipeline)
        if loop is None or found is None:
            return None
        source = made = _array(found)
        stages, workspace = stages[len(loop.stages) :], Workspace("<empty>")
    return made


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


__all__ = ["is_empty", "typed"]
