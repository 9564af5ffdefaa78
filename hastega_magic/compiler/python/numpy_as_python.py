"""Stages for Python to run whose functions read NumPy's numbers: these count as Python's, and do not wrap around.

map(lambda x: table[x] * 2**61) |> cumsum    →    the same, each function giving what its graph does
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from hastega_magic.compiler.python.nodes import filled, of_params, roots
from hastega_magic.compiler.python.steps import Surroundings, is_numpys, numpys_tables, reads_numpys
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.expr import Expr, flatten
from hastega_magic.ir.interpreter import evaluate
from hastega_magic.ir.pipeline import Fn
from hastega_magic.runtime.python_numbers import python_number
from hastega_magic.syntax.loops.build import BoundStage

_OF_ELEMENTS = "map", "filter"
_IN_ORDER = "scan", "reduce"


def exactly(loop: Loop, workspace: Workspace) -> list[BoundStage]:
    """The loop's stages. What functions raise is theirs as before; what they give may be beyond 64 bits."""
    numpys, fns = numpys_tables(workspace), dict[int, Fn]()
    for stage, owner in zip(loop.pipeline.stages, loop.built.owners, strict=True):
        if stage.fn is not None and owner.site.name in _OF_ELEMENTS:
            fns[id(owner.site)] = stage.fn
    sink, last = loop.pipeline.sink, loop.stages[-1]
    if sink.fn is not None and last.site.name in _IN_ORDER:
        fns[id(last.site)] = sink.fn
    around, found = Surroundings(workspace), list[BoundStage]()
    for each in loop.stages:
        fn, function = fns.get(id(each.site)), each.args[0] if each.args else None
        if fn is not None and reads_numpys(function, fn, numpys):
            found.append(replace(each, args=(_exact(function, fn, around), *each.args[1:])))
        else:
            found.append(each)
    return found


def _exact(function: Any, fn: Fn, around: Surroundings) -> Any:
    """The function, with the value of its graph where that has one."""

    def exact(*values: Any) -> Any:
        found: object = None
        failed: Exception | None = None
        with np.errstate(all="ignore"):
            try:
                found = function(*values)
            except (OverflowError, AttributeError) as error:
                if not is_numpys(error):
                    raise
                failed = error
        try:
            numbers = of_params(fn.params, values[0] if len(values) == 1 else values)
            known: dict[Expr, Any] = dict(zip(flatten(fn.params), numbers, strict=True))
            made = evaluate(roots(fn), lambda node: known[node] if node in known else around(node))
        except Exception as error:  # Python, which has given a value, is right
            reraise_signal(error)
            if failed is None:
                return python_number(found)
            raise (error if isinstance(failed, AttributeError) else failed) from None
        return filled(fn.result, made)

    def of_two(one: Any, other: Any) -> Any:
        return exact(one, other)

    if isinstance(function, np.ufunc):  # tuples go to those of two arguments as these
        return of_two if function.nin == 2 else exact
    return functools.wraps(function)(exact)  # whose signature says what tuples go to


__all__ = ["exactly"]
