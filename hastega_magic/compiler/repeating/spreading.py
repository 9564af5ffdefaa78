"""A statement over many elements that runs again: called on all threads at once, where it will take milliseconds.

Its sources are arrays or ranges, its result is an array or a number. What takes longer, and what an element of which
needs Python, goes the way of every loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.recover import Recovery
from hastega_magic.compiler.repeating.slots import Slot
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.ir import abi
from hastega_magic.ir.fused import Output
from hastega_magic.passes.schedule import folds_of, slots_of
from hastega_magic.runtime.buffers import trim
from hastega_magic.runtime.cpu import Program
from hastega_magic.runtime.launch import LoopResult
from hastega_magic.runtime.spread import Spread

MISSED: Any = object()
"""In place of a value, which another way will find."""

_OFTEN = 3
"""After so many misses in a row, of one variant, it is not tried again."""


@dataclass
class Spreading:
    """The loop, and how its result is put together."""

    execution: Execution
    loop: Loop
    output: Output
    folds: Sequence[int]
    options: Options
    _variant: int = -1
    _kept: dict[int, Spread] = field(default_factory=dict[int, Spread])
    """By variant; whoever runs one has taken it out."""
    _missed: int = 0

    def value(self, slots: Sequence[Slot], operands: Sequence[Any], length: int) -> object:
        """The statement's value over so many elements; MISSED; what an interrupt raises."""
        first = self.execution.compiled.first
        if first != self._variant:
            self._variant, self._missed = first, 0
        if self._missed >= _OFTEN:
            return MISSED
        alive: list[object] = []
        words = [word for each in slots for word in each.words(operands, length, alive)]
        spread = self._kept.pop(first, None) or self._of(first)
        if spread is None:
            return MISSED
        try:
            if not spread.soon(length):
                return MISSED
            result = spread.run(words, length)
            if spread.whole:
                self._missed = 0
                return self._whole(result)
            self._missed += 1
            return MISSED
        finally:
            self._kept[first] = spread

    def _of(self, variant: int) -> Spread | None:
        body = self.execution.compiled.bodies.get(variant)
        if body is None or not isinstance(body.program, Program) or abi.layout(body.kernel).turns:
            return None
        tuned = self.execution.job.tuned.threads
        threads = self.execution.backend.threads
        tables = self.execution.job.tables
        return Spread(body.kernel, body.program, tables, min(threads, tuned or threads))

    def _whole(self, result: LoopResult) -> object:
        if slots_of(self.output):
            return trim(result.arrays[0], result.packed_length(0))
        workspace = Workspace("")  # nothing is left to Python
        return Recovery(self.loop, workspace, (), result, self.options).reduction(self.output, self.folds)


def spreading(execution: Execution, slots: Sequence[Slot], loop: Loop, options: Options) -> Spreading | None:
    """How the loop, whose results are of a common kind, runs over many elements; None for other sources."""
    (output,) = execution.fused.outputs
    if output.sink.kind == "to_list" or any(each.source.kind not in ("array", "range") for each in slots):
        return None
    (folds,) = folds_of(execution.compiled.fused)
    output = replace(output, weights=execution.compiled.fused.outputs[0].weights)
    return Spreading(execution, loop, output, folds, options)


__all__ = ["MISSED", "Spreading", "spreading"]
