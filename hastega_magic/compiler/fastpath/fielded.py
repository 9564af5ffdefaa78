"""A statement over tuples that is ready to be run again: as the one over their fields, side by side."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, cast

from hastega_magic.compiler.fastpath.guards import Display, DoesNotFit
from hastega_magic.compiler.fastpath.row_wise import RowWise
from hastega_magic.compiler.fastpath.standing import Standing
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome, Part
from hastega_magic.compiler.sources.iterators import is_of_python, iterable
from hastega_magic.compiler.sources.places import fields, is_of_row, over_fields
from hastega_magic.compiler.statement import Bound
from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.contained import Where

if TYPE_CHECKING:
    from hastega_magic.compiler.fastpath.prepared import Prepared


@dataclass(frozen=True)
class Fielded(Standing):
    """A statement over tuples, prepared as one over their fields: `[(1, 0.5)]` as `[1] |> zip([0.5])`.

    `lists`: over lists too, as `columns` has it.
    """

    lists: bool = False

    def run(self, source: object, displays: Sequence[Display]) -> object:
        """The result; DoesNotFit where it must be found another way; what an element raises."""
        if type(source) not in (list, tuple) and is_of_python(source) and isinstance(source, Collection):
            source = iterable(cast(object, source))  # items of a dict, say, which show it to nobody
        found = fields(source, False, self.lists)
        if found is None:
            raise DoesNotFit
        first, *others = found.values()
        return self.prepared.run(first, [(None, tuple(others), {}), *displays])

    def changed(self, bound: Bound) -> set[Where] | None:
        """Variables whose numbers its functions found changed; None where anything else is different."""
        over = over_fields(bound, bound.source, bound.stages)
        return None if over is None else self.prepared.changed(over[0])


def loop_of(found: Prepared | Standing) -> Prepared:
    """What runs, over elements or over what stands for them."""
    return found.prepared if isinstance(found, Standing) else found


def prepared(
    bound: Bound,
    outcome: Outcome,
    options: Options,
    filename: str,
    gives: bool = False,
    mends: bool = False,
    place: tuple[str, int] | None = None,
) -> Prepared | Standing | None:
    """The statement that gave this outcome, ready to be run again; None where it was not one whole loop on the CPU.

    `gives`: objects that ordinary code is given may be among its results. `mends`, `place`: as in `Prepared`.
    """
    found = _prepared(bound, outcome, options, filename, mends)
    if found is not None:
        own = loop_of(found)
        own.gives, own.mends, own.place, own.sites = gives, mends, place, bound.site.stages
    return found


def _prepared(
    bound: Bound, outcome: Outcome, options: Options, filename: str, mends: bool
) -> Prepared | Standing | None:
    alone = outcome.parts[0] if len(outcome.parts) == 1 else None
    from hastega_magic.compiler.fastpath.prepare import prepare

    if alone is None and len(outcome.bounds) == 1 and len(outcome.bounds[0].stages) > len(bound.stages):
        found = prepare(outcome.bounds[0], outcome, options, filename, mends)  # an element raised
        return None if found is None else Fielded(found, bound.apart)
    if alone is None or alone.outcome is None or len(alone.bound.stages) < len(bound.stages):
        return prepare(bound, outcome, options, filename, mends)
    found = of_part(alone, alone.outcome, options, filename)
    return found if isinstance(found, Standing) else prepare(bound, outcome, options, filename, mends)


def of_part(part: Part, outcome: Outcome, options: Options, filename: str) -> Prepared | Standing | None:
    """The same of a part that was one loop."""
    (over,) = outcome.bounds
    from hastega_magic.compiler.fastpath.prepare import prepare

    found = prepare(over, outcome, options, filename)
    if found is not None and over.rows is not None:
        return RowWise(found, over.rows, sum(map(is_of_row, over.stages)))
    return (
        found if found is None or len(over.stages) == len(part.bound.stages) else Fielded(found, over.apart)
    )


__all__ = ["Fielded", "loop_of", "of_part", "prepared"]
