"""What is kept of a cell until the next one: its loops with their sources, to be run again. References, no copies.

Results are not kept: what is run again is computed again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import overload

from hastega_magic.compiler.comparing.baselines import own_name
from hastega_magic.compiler.options import Options, placed
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import UsageError
from hastega_magic.records import dataclass
from hastega_magic.report.escape import quoted


@dataclass(frozen=True)
class Kept:
    """Statements that became one loop over `length` elements, and ran natively."""

    loops: tuple[Loop, ...]
    workspace: Workspace
    length: int
    options: Options
    filename: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the results, as one can write them: of one that has none, its line."""
        return tuple(_written(loop.bound.name) for loop in self.loops)


_NOTHING = (
    "ran no pipeline that became one loop, as a statement of its own: "
    "those in loops, functions and larger expressions are not kept"
)


@dataclass(frozen=True)
class Loops(Sequence[Kept]):
    """What is kept of a cell. `whys`: of results that are not, a sentence for who asks for them.

    raised  the kind of what the cell raised ("": nothing)
    cell    what messages call it
    """

    kept: tuple[Kept, ...] = ()
    whys: Mapping[str, str] = field(default_factory=dict[str, str])
    raised: str = ""
    cell: str = "the last %%hastega cell"

    @property
    def why(self) -> str:
        """Why the last result that is not kept is not."""
        if self.whys:
            return tuple(self.whys.values())[-1]
        if self.raised:
            return f"{self.cell} raised {self.raised}, before a pipeline that became one loop gave its result"
        return f"{self.cell} {_NOTHING}"

    def __len__(self) -> int:
        return len(self.kept)

    @overload
    def __getitem__(self, index: int) -> Kept: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Kept]: ...
    def __getitem__(self, index: int | slice) -> Kept | Sequence[Kept]:
        return self.kept[index]


def keep(outcomes: Sequence[Outcome], options: Options, filename: str, raised: str = "") -> Loops:
    """The outcomes that loops alone computed; `raised`: the kind of what the cell raised."""
    found: list[Kept] = []
    whys: dict[str, str] = {}
    for outcome in outcomes:
        if outcome.execution is None or outcome.workspace is None:
            continue
        whole = len(outcome.loops) == len(outcome.values) and all(map(is_whole, outcome.loops))
        if whole and not outcome.by_python:
            length = outcome.execution.length
            own = placed(options, own_name(options, outcome.execution.on))
            found.append(Kept(tuple(outcome.loops), outcome.workspace, length, own, filename))
        else:
            whys |= {_written(bound.name): _why(outcome) for bound in outcome.bounds}
    return Loops(tuple(found), whys, raised)


def is_whole(loop: Loop) -> bool:
    """Whether the loop is all of its statement; one made for its very elements says nothing of fewer of them."""
    return len(loop.stages) == len(loop.bound.stages) and not loop.built.bespoke


def _written(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _why(outcome: Outcome) -> str:
    """Why what computed the outcome cannot be run again."""
    name = outcome.bounds[-1].name
    done = sum(len(loop.stages) for loop in outcome.loops)
    stages = [stage for bound in outcome.bounds for stage in bound.stages]
    if done < len(stages) and len(outcome.loops) == 1:
        first = quoted(stages[done].site.text)
        return f"Python computes a part of `{name}`, from {first} on: only a whole loop can be run again"
    if outcome.by_python:
        return f"Python computes a part of `{name}`: only a whole loop can be run again"
    if len(outcome.loops) > len(outcome.values):
        return f"`{name}` is computed by {len(outcome.loops)} loops, one after the other: only one can be run again"
    made = [stage.site.text for stage in stages if stage.site.name in _OF_THESE]
    stage = f", because of {quoted(made[-1])}" if made else ""
    return f"the loop of `{name}` is made for the very elements of its source{stage}: it cannot be run over others"


_OF_THESE = frozenset({"dot", "var", "std", "chunk", "window", "take_while", "drop_while", "last", "first"})


def why_nothing(kept: Sequence[Kept]) -> str:
    """A sentence for who wants to run again what is not kept."""
    return (kept if isinstance(kept, Loops) else Loops()).why


def choose(kept: Sequence[Kept], name: str = "") -> Kept:
    """The loop that gives the result `name` (none given: the last one); UsageError with the names there are."""
    # A name may be assigned twice: the last one counts, as in Python.
    for each in reversed(kept):
        if not name or name in each.names:
            return each
    if isinstance(kept, Loops) and name in kept.whys:
        raise UsageError(kept.whys[name])
    if not kept:
        raise UsageError(why_nothing(kept))
    there = ", ".join(one for each in kept for one in each.names)
    raise UsageError(
        f"the last %%hastega cell has no result {name!r} of a compiled pipeline; there are {there}"
    )


__all__ = ["Kept", "Loops", "choose", "is_whole", "keep", "why_nothing"]
