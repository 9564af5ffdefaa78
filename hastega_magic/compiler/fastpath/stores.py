"""`for` statements that store into places of what is there: all elements are computed, then stored, or none is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, cast

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.fastpath.for_statements import ForStatement, from_end
from hastega_magic.compiler.fastpath.in_grids import Grid, grid_of
from hastega_magic.compiler.fastpath.in_place import Elements, Places, places_of
from hastega_magic.compiler.fastpath.objects import NotExact
from hastega_magic.compiler.fastpath.ordinary import NOTHING
from hastega_magic.compiler.fastpath.pauses import Pauses
from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.parts import Ordinary
from hastega_magic.syntax.ordinary.stores import Stores


@dataclass
class Storing(ForStatement):
    """The runs of one such statement; their value is what it hands on."""

    as_code_gives = staticmethod(Elements)
    gives_objects = False
    refusals: Pauses = field(default_factory=Pauses)
    """How often there was nothing that it could store into, or elements were not what could be stored."""

    def _of_loops(self, code: Ordinary, functions: Sequence[object], operands: tuple[object, ...]) -> object:
        known = code.hands_on
        assert known is not None
        if why := self.refusals.for_failures():
            raise NotExact(why)
        try:
            into = (places_of if isinstance(known.stores, Stores) else grid_of)(known, code, operands)
            if known.backwards and isinstance(into, Places):  # sources are gone through behind the stores
                into.into.look([operands[each] for each in code.sources])
        except NotExact as error:
            raise NotExact(self.refusals.failed(str(error))) from None
        outer: Any = operands[0]
        gone_through = (outer[:-1], *operands[1:]) if known.ends else operands
        found = super()._of_loops(code, functions, gone_through)
        if found is NOTHING:
            return found
        handed = (outer[-1:],) if known.ends else (next(from_end(code, operands)),) if known.last else ()
        elements = cast(Elements, found)
        try:
            if isinstance(into, Grid):
                into.store(elements, outer[:-1] if known.ends else outer, _inner(code, functions))
            else:
                into.store(elements)
        except NotExact as error:
            raise NotExact(self.refusals.failed(str(error))) from None
        self.refusals.compiled()
        forget_inputs()  # what a loop has read of them
        return handed

    def _handed(
        self, callees: tuple[object, ...], functions: tuple[object, ...], operands: tuple[Any, ...]
    ) -> tuple[object, ...] | None:
        handed = super()._handed(callees, functions, operands)
        return None if handed is None else cast("tuple[object, ...]", handed[0])


def _inner(code: Ordinary, functions: Sequence[Any]) -> range:
    """What the inner one of two statements goes through; NotExact where that is no range."""
    assert code.nest is not None
    given = code.nest.clauses[1].columns[0].given
    found = functions[given[1]]() if given is not None and given[0] == "function" else None
    if type(found) is not range:
        raise NotExact("an inner `for` goes through something else than a range")
    return found


__all__ = ["Storing"]
