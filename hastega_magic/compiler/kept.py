"""What is kept of a cell until the next one: its loops with their sources, to be run again. References, no copies.

Results are not kept: what is run again is computed again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import UsageError


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
        return tuple(re.sub(r"\W", "_", loop.bound.name) for loop in self.loops)


def keep(outcomes: Sequence[Outcome], options: Options, filename: str) -> tuple[Kept, ...]:
    """The outcomes that loops alone computed."""
    found: list[Kept] = []
    for outcome in outcomes:
        # A loop that is made for these elements says nothing of the stages over fewer of them.
        complete = [
            len(loop.stages) == len(loop.bound.stages) and not loop.built.bespoke for loop in outcome.loops
        ]
        if outcome.execution is None or outcome.workspace is None:
            continue
        if len(outcome.loops) == len(outcome.values) and all(complete):
            length = outcome.execution.length
            found.append(Kept(tuple(outcome.loops), outcome.workspace, length, options, filename))
    return tuple(found)


def choose(kept: Sequence[Kept], name: str = "") -> Kept:
    """The loop that gives the result `name` (none given: the last one); UsageError with the names there are."""
    if not kept:
        raise UsageError("the last %%hastega cell ran no pipeline that became one loop")
    if not name:
        return kept[-1]
    # A name may be assigned twice: the last one counts, as in Python.
    for each in reversed(kept):
        if name in each.names:
            return each
    there = ", ".join(one for each in kept for one in each.names)
    raise UsageError(
        f"the last %%hastega cell has no result {name!r} of a compiled pipeline; there are {there}"
    )


__all__ = ["Kept", "choose", "keep"]
