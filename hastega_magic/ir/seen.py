"""What the interpreter evaluated for one element, turns of loops included, for those who look at it."""

from __future__ import annotations

from dataclasses import field

from hastega_magic.ir.expr import Expr
from hastega_magic.ir.loop import iteration
from hastega_magic.records import dataclass


@dataclass
class Seen:
    """What was evaluated: values of nodes, and of loops the first turns, likewise, and how many there were."""

    values: dict[Expr, object] = field(default_factory=dict[Expr, object])
    turns: dict[Expr, list[Seen]] = field(default_factory=dict[Expr, "list[Seen]"])
    counts: dict[Expr, int] = field(default_factory=dict[Expr, int])


class Unfinished(Exception):
    """A loop's turns need more values than are to be computed."""


@dataclass
class Watch:
    """How many values of turns may be computed, and how many turns of each loop are kept."""

    left: int
    kept: int

    def turned(self, loop: Expr, around: Seen, turn: Seen) -> None:
        """A turn begins: it is kept if it is one of the first. Unfinished where there were too many."""
        around.counts[loop] = around.counts.get(loop, 0) + 1
        kept = around.turns.setdefault(loop, [])
        self.left -= len(iteration(loop).step) + (len(kept[-1].values) if kept else 0)
        if len(kept) < self.kept:
            kept.append(turn)
        if self.left < 0:
            raise Unfinished
