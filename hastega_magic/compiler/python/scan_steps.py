"""Steps from one element to the next where Python takes them: in two's complement, or looking for wide integers.

scan(lambda a, x: (a * 3 + x) % 100, 0)      a * 3 may leave 64 bits, and what is left of it by 100 may not
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hastega_magic.compiler.python.instrumented import instrumented
from hastega_magic.compiler.python.nodes import filled, has_turns, of_params, roots, wide_constants
from hastega_magic.compiler.python.stagewise import first_beyond
from hastega_magic.compiler.python.steps import Surroundings, is_beyond
from hastega_magic.compiler.scan_values import beyond_int64
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.expr import Expr, flatten
from hastega_magic.ir.interpreter import evaluate
from hastega_magic.ir.pipeline import Fn
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.ops.machine import wrap64
from hastega_magic.passes import wrap
from hastega_magic.passes.infer import Leaves
from hastega_magic.runtime import python
from hastega_magic.runtime.python_calls import elements
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.stages import STAGES
from hastega_magic.types import INT

if TYPE_CHECKING:
    from hastega_magic.compiler.python.elements import Elements


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


def beyond_in_order(loop: Loop, workspace: Workspace, stage: BoundStage) -> int | None:
    """The first integer that no int64 holds on the way of the loop's steps; `stage`: theirs, with the exact function.

    None also where an element or a step raises before. OverflowError where an element needs one, as `--int checked`
    has it, and none of the steps before it does.
    """
    from hastega_magic.compiler.python.elements import Elements, of_check

    steps, elements = _Steps(loop, workspace, stage), Elements(loop, workspace, "checked", (loop,))
    length = min(len(workspace.column(each).data) for each in loop.pipeline.sources)
    for first in range(0, length, BLOCK):
        values, failed = _evaluated(elements, first, min(first + BLOCK, length))
        found = steps.beyond(values)
        if found is not None or steps.raised:
            return found
        if failed is not None:
            if of_check(failed):
                raise failed
            return None
    return None


def _evaluated(elements: Elements, first: int, last: int) -> tuple[list[Any], Exception | None]:
    """The values of elements number `first` to `last` - 1 that the filters kept; those before one that raises."""
    try:
        return elements.through(first, last).values, None
    except Exception as error:
        reraise_signal(error)
    values = list[Any]()
    try:
        for number in range(first, last):
            element = elements.at(number)
            values += [element.value] if element.kept else []
    except Exception as error:
        reraise_signal(error)
        return values, error
    return values, None


class _Steps:
    """Steps of a running sink that Python takes, in which integers beyond 64 bits are looked for.

    `raised`: whether one has raised, to which no other comes.
    """

    def __init__(self, loop: Loop, workspace: Workspace, stage: BoundStage) -> None:
        named = STAGES[stage.site.name].bind(stage.args, stage.kwargs)
        self.raised = False
        self._fn, self._around = loop.pipeline.sink.fn, Surroundings(workspace)
        self._function = cast("Callable[[Any, Any], Any]", named.get("f", operator.add))
        self._totals = [named["init"]] if "init" in named else list[Any]()
        self._turned = (
            None if self._fn is None or not has_turns(self._fn) else instrumented(self._fn, self._around)
        )

    def beyond(self, values: list[Any]) -> int | None:
        """The first such integer in the steps to these values."""
        taken, totals = (values, self._totals) if self._totals else (values[1:], values[:1])
        left: int | None = None
        try:
            for value in taken:
                totals.append(self._function(totals[-1], value))
                if (left := beyond_int64(totals[-1])) is not None:
                    break  # squares of squares are soon too long to be computed
        except Exception as error:
            reraise_signal(error)
            self.raised = True
        self._totals = totals[-1:]
        found = self._first(totals, taken)
        return left if found is None else found

    def _first(self, totals: list[Any], taken: list[Any]) -> int | None:
        if self._fn is None:
            return next(filter(is_beyond, totals), None)
        pairs = list(zip(totals[:-1], taken, strict=False))  # not that of the step that raised
        constants = wide_constants(self._fn)
        if pairs and constants:
            return cast(int, constants[0].value)
        if self._turned is not None:
            return next(filter(None, map(self._turned, pairs)), None)
        try:
            place = first_beyond(self._fn, self._around, range(len(pairs)), pairs)
        except (ArithmeticError, ValueError, TypeError):  # Python has given a value all the same
            return None
        if place is None:
            return None
        known = _given(self._fn, *pairs[place])
        made = evaluate(roots(self._fn), lambda node: known[node] if node in known else self._around(node))
        return _wide(made.items())


def _given(fn: Fn, total: Any, value: Any) -> dict[Expr, Any]:
    return dict(zip(flatten(fn.params), of_params(fn.params, (total, value)), strict=True))


def _wide(made: Any) -> int | None:
    pairs = cast("Sequence[tuple[Expr, Any]]", made)
    return next(
        (each for node, each in pairs if node.args and node.type is INT and wrap64(each) != each), None
    )


__all__ = ["beyond_in_order", "wrapped_steps", "wrapped_value"]
