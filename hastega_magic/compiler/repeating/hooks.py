"""What rewritten code calls: the pipelines of a cell while it runs, those in functions also when it is over.

Functions may be sent to other processes, with all that their code calls: what they take along is how their pipelines
are written, and not what was compiled of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from hastega_magic.compiler.repeating.alike import Display
from hastega_magic.compiler.repeating.cell_turns import CellTurns
from hastega_magic.latest import Latest
from hastega_magic.syntax.site import Site

if TYPE_CHECKING:
    from hastega_magic.compiler.repeating.ordinary import OrdinaryCode
    from hastega_magic.compiler.repeating.repeated import Repeated

PIPES: Latest[tuple[object, ...], Repeated] = Latest(64)
"""Pipelines of the explicit form, by where they are made and run. What they hold is let go of, too."""


class Hooks:
    """`run` and `attempt`: a pipeline inside a larger expression or a function, and ordinary code that may be one.

    `nested`: those of all cells that stand in functions, by number.
    """

    def __init__(self, nested: Mapping[int, Repeated]) -> None:
        self.nested = nested
        self._ordinary: Mapping[int, OrdinaryCode] = {}
        self._sites: Mapping[int, Site] = {}
        self._turns: CellTurns | None = None

    def __reduce__(self) -> tuple[object, ...]:
        from hastega_magic.compiler.repeating.ordinary import OrdinaryCode

        # Ordinary code holds the text of its cell, which is nobody's to send, and Python can do without it.
        pipelines = {n: each for n, each in self.nested.items() if not isinstance(each, OrdinaryCode)}
        return Hooks, (pipelines,)

    def begin(
        self, sites: Mapping[int, Site], turns: CellTurns, ordinary: Mapping[int, OrdinaryCode]
    ) -> None:
        """The cell of these pipelines runs: its report tells of them."""
        self._sites, self._turns, self._ordinary = sites, turns, ordinary

    def end(self) -> None:
        """It is over: nobody reads what they would tell."""
        self._sites, self._turns = {}, None

    def run(self, number: int, source: object, *stages: Display) -> object:
        """The value of pipeline `number` over the source."""
        if self._turns is not None and number in self._sites:
            return self._turns.run(self._sites[number], source, stages)
        return self.nested[number].run(source, stages)

    def attempt(
        self,
        number: int,
        callees: tuple[object, ...],
        functions: tuple[object, ...],
        operands: tuple[object, ...],
        python: Callable[..., Any],
    ) -> object:
        """The value of ordinary code, as a pipeline or by `python`."""
        code = self._ordinary.get(number) or self.nested.get(number)
        if code is None:  # of another process
            return python(callees, functions, operands)
        return cast("OrdinaryCode", code).attempt(callees, functions, operands, python)


__all__ = ["PIPES", "Hooks"]
