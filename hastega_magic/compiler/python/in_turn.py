"""Steps from one element to the next where Python takes them: in two's complement, or looking for wide integers.

scan(lambda a, x: (a * 3 + x) % 100, 0)      a * 3 may leave 64 bits, and what is left of it by 100 may not
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.python.looked_at import looked_at
from hastega_magic.compiler.python.nodes import filled, has_turns, of_params, roots
from hastega_magic.compiler.python.steps import Surroundings
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.ir.columns import Columns
from hastega_magic.ir.expr import Expr, flatten
from hastega_magic.ir.interpreter import evaluate
from hastega_magic.ir.pipeline import Fn
from hastega_magic.ops.machine import wrap64
from hastega_magic.passes import wrap
from hastega_magic.passes.infer import Leaves
from hastega_magic.runtime import python
from hastega_magic.runtime.python_calls import elements
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.syntax.joining.build import BoundStage
from hastega_magic.syntax.stages import STAGES
from hastega_magic.types import INT


def wrapped_value(value: Any) -> Any:
    """The value with its ints in two's complement: an element, a tuple, or an array of such."""
    if isinstance(value, np.ndarray):
        numbers = cast("list[object]", cast(AnyArray, value).tolist())
        return python.as_result([wrapped_value(each) for each in numbers])
    if isinstance(value, tuple):
        return tuple(map(wrapped_value, cast("tuple[object, ...]", value)))
    return wrap64(value) if type(value) is int else value


def wrapped_steps(values: object, loop: Loop, workspace: Workspace) -> object:
    """What the loop's running sink makes of the elements, each step in two's complement."""
    around, last = Surroundings(workspace), loop.stages[-1]
    fn = wrap.running(loop.pipeline.sink, Leaves((), (None,) * len(around.tables))).fn

    def add(total: Any, value: Any) -> Any:
        return wrapped_value(total + value)

    def step(total: Any, value: Any) -> Any:
        assert fn is not None
        known = _given(fn, total, value)

        def leaf(node: Expr) -> object:
            return known[node] if node in known else around(node)

        for path, node in fn.effects:
            if path is None or evaluate([path], leaf)[path]:
                evaluate([node], leaf)
        made = evaluate(roots(fn), leaf)
        return filled(fn.result, {node: wrapped_value(each) for node, each in made.items()})

    given = map(wrapped_value, elements(values))
    if fn is None:  # running sums
        return python.as_result(list(itertools.accumulate(given, add)), values)
    named = STAGES[last.site.name].bind(last.args, last.kwargs)
    args = (step, named["init"]) if "init" in named else (step,)
    return python.run(list(given), [(last.site.name, None, args, {})])


def first_beyond(values: object, loop: Loop, workspace: Workspace, stage: BoundStage) -> int | None:
    """The first integer that no int64 holds among those on the way of a step; `stage`: with the exact function."""
    fn, named = loop.pipeline.sink.fn, STAGES[stage.site.name].bind(stage.args, stage.kwargs)
    if fn is None:
        return None
    taken, around = list(elements(values)), Surroundings(workspace)
    begun = [named["init"]] if "init" in named else []
    totals = list(itertools.accumulate([*begun, *taken], cast("Callable[[Any, Any], Any]", named["f"])))
    taken = taken if begun else taken[1:]
    if has_turns(fn):
        return next(filter(None, map(looked_at(fn, around), zip(totals, taken, strict=False))), None)
    parted = [_given(fn, *each) for each in zip(totals, taken, strict=False)]
    places = range(len(parted))
    columns = Columns(
        {leaf: {place: parted[place][leaf] for place in places} for leaf in flatten(fn.params)}, around
    )
    try:
        for node in roots(fn):
            columns.of(node, places)
    except (ArithmeticError, ValueError, TypeError):  # Python has given a value all the same
        return None
    place = columns.beyond()
    if place is None:
        return None
    made = evaluate(roots(fn), lambda node: parted[place][node] if node in parted[place] else around(node))
    return _wide(made.items())


def _given(fn: Fn, total: Any, value: Any) -> dict[Expr, Any]:
    return dict(zip(flatten(fn.params), of_params(fn.params, (total, value)), strict=True))


def _wide(made: Any) -> int | None:
    pairs = cast("Sequence[tuple[Expr, Any]]", made)
    return next(
        (each for node, each in pairs if node.args and node.type is INT and wrap64(each) != each), None
    )


__all__ = ["first_beyond", "wrapped_steps", "wrapped_value"]
