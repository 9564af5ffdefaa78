"""`for` statements that store into places of what is there: all elements are computed, then stored, or none is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, cast

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.fastpath.for_statements import ForStatement, from_end
from hastega_magic.compiler.fastpath.guards import Display
from hastega_magic.compiler.fastpath.in_grids import Grid, grid_of
from hastega_magic.compiler.fastpath.in_place import Places, elements_of, is_list, places_of
from hastega_magic.compiler.fastpath.objects import NotExact
from hastega_magic.compiler.fastpath.operands import Iterated
from hastega_magic.compiler.fastpath.ordinary import NOTHING
from hastega_magic.compiler.fastpath.pauses import Pauses
from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.parts import Ordinary
from hastega_magic.syntax.ordinary.stores import Stores


@dataclass
class Storing(ForStatement):
    """The runs of one such statement; their value is what it hands on."""

    as_code_gives = staticmethod(elements_of)
    gives_objects = staticmethod(is_list)
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
        gone_through: list[Any] = [*operands]
        if known.ends:
            gone_through[0] = outer[:-1]
        assert known.into is not None
        gone_through[known.into] = into.arrays
        found: Any = super()._of_loops(code, functions, tuple(gone_through))
        if found is NOTHING:
            return found
        handed = (outer[-1:],) if known.ends else (next(from_end(code, operands)),) if known.last else ()
        try:
            if isinstance(into, Grid):
                into.store(found, gone_through[0], _inner(code, functions))
            else:
                into.store(found)
        except NotExact as error:
            raise NotExact(self.refusals.failed(str(error))) from None
        self.refusals.compiled()
        forget_inputs()  # what a loop has read of them
        return handed

    def _value(self, functions: Sequence[object], operands: Sequence[object], given: Iterated) -> object:
        # Whether it stores into arrays tells loops apart, as whether it goes through some does.
        into = self._into_arrays(operands)
        return super()._value(functions, operands, replace(given, arrays=(*given.arrays, into)))

    def _displays(
        self, functions: Sequence[object], operands: Sequence[object], given: Iterated
    ) -> list[Display]:
        """Of arrays they are not made lists."""
        found = super()._displays(functions, operands, given)
        lists = self.site.stages[-1].name == "to_list"
        return found[:-1] if lists and self._into_arrays(operands) else found

    def _into_arrays(self, operands: Sequence[Any]) -> bool:
        """Where `_of_loops` has noted it."""
        assert self.code is not None
        assert self.code.hands_on is not None
        assert self.code.hands_on.into is not None
        return operands[self.code.hands_on.into]

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
