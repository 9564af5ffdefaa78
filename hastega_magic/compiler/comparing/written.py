"""Loops over places as the user wrote them, for Python to run: over rows, or over windows and chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hastega_magic.ir.rows import taken_apart
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.values.neighbours import Over


def as_written(value: Any, stages: Sequence[BoundStage], size: int) -> tuple[Any, Sequence[BoundStage]]:
    """What a loop goes through and its stages, those that are given places with what is at these instead."""
    first = stages[0].args[0] if stages and stages[0].args else None
    if isinstance(first, Over):
        name = "window" if first.step == 1 else "chunk"
        taken = first.data[: size * first.step + first.size - first.step]
        cut = replace(stages[0], site=replace(stages[0].site, name=name), args=(first.size,))
        return taken, (cut, replace(stages[0], args=(first.function,)), *stages[1:])
    apart = [None if not each.args else taken_apart(each.args[0]) for each in stages]
    rows = next((found[1] for found in apart if found is not None), None)
    if rows is None or rows.held is None:
        return value, stages
    pairs = zip(stages, apart, strict=True)
    written = [each if found is None else replace(each, args=(found[0],)) for each, found in pairs]
    return rows.held[:size], written


__all__ = ["as_written"]
