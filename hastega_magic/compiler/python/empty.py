"""Arrays without elements that Python made: of the type that compiled loops give, which know what elements would be."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from hastega_magic.compiler.statement import Bound, build_loop, element_structure
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.runtime import results
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.types import RESULT_STORAGE, ScalarType


def typed(value: Any, bound: Bound, source: object) -> Any:
    """What Python computed for a statement; an array without elements in the loop's type, where there is a loop."""
    if type(value) is not np.ndarray or value.shape != (0,):
        return value
    last = bound.stages[-1]
    if (
        last.callee is not None
        or last.site.name == "astype"
        or not all(each.site.known for each in bound.stages)
    ):
        return value
    try:
        structure = _structure(bound, source)
    except Exception:  # what has no compiled form, such as an iterator, leaves Python's array as it is
        return value
    return value if structure is None else _array(structure)


def _structure(bound: Bound, source: object) -> object:
    """The types of an element of the result; None where no loop gives it."""
    workspace = Workspace("<empty>")
    # These need a run to be compiled, and leave elements as they are.
    stages = [stage for stage in bound.stages if stage.site.name not in ("take_while", "drop_while")]
    if not stages:
        return workspace.source(source).structure
    loop, _, probe = build_loop(bound, source, stages, workspace)
    if loop is None or probe is not None or len(loop.stages) < len(stages) or loop.built.tail:
        return None
    return element_structure(loop.pipeline) if loop.pipeline.sink.kind == "array" else None


def _array(structure: object) -> AnyArray:
    if isinstance(structure, ScalarType):
        return np.empty(0, RESULT_STORAGE[structure].name)
    return results.assembled(structure, [_array(part) for part in cast("tuple[object, ...]", structure)])


__all__ = ["typed"]
