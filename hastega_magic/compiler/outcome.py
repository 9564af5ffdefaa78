"""Statements on their way through the driver: groups that become one loop, and what running them gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.loops import CompiledLoop
from hastega_magic.compiler.statement import Bound, Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.ir.fused import Fused
from hastega_magic.records import changed, dataclass

if TYPE_CHECKING:
    from hastega_magic.compiler.fastpath.group_cache import Expected
    from hastega_magic.compiler.python.lockstep import Behind
    from hastega_magic.compiler.statement_run import StatementRun


@dataclass
class Group:
    """Neighbouring statements that become one loop."""

    workspace: Workspace
    loops: list[Loop] = field(default_factory=list[Loop])
    compiled: tuple[CompiledLoop, Fused] | None = None
    """What compiling it would find, where that is known: its code, and the loop over this run's sources."""
    expected: Expected | None = None
    """The group of an earlier run that this one may become, where it has been the same so far."""

    def names(self) -> set[str]:
        """Variables that the group assigns."""
        return {loop.bound.target for loop in self.loops if loop.bound.target is not None}


@dataclass(frozen=True)
class Part:
    """Stages of a statement, bound to what they went over; `outcome`: of their loop, None where Python ran them.

    Where they went over tuples, the loop is that of a statement which goes over their fields: it zips them first.
    `kind`: what Python's stages went over, where that is told (compiler/sources/kinds.py). `behind`: the stages that
    they went in step with, as far as somebody could tell; `more`: how many of these are among `bound`'s.
    """

    bound: Bound
    outcome: Outcome | None = None
    kind: object = None
    behind: Behind | None = None
    more: int = 0


@dataclass
class Outcome:
    """What running statements gave; `execution` is that of the last loop, None if all was left to Python.

    `parts`: the loops of one statement, and what Python ran between them; none where elements were not simply handed
    from one to the next.
    """

    bounds: Sequence[Bound]
    values: list[object]
    loops: Sequence[Loop]
    execution: Execution | None
    group: int
    workspace: Workspace | None = None
    parts: Sequence[Part] = ()
    handed: bool = False
    """Whether its loops handed their elements on: what they left out, as `take` asks, is in no loop."""
    by_python: bool = False
    """Whether Python ran some of the stages, whose functions somebody may see called."""

    @classmethod
    def broken(cls, run: StatementRun, loop: Loop, workspace: Workspace, group: int) -> Outcome | None:
        """That of a statement whose last loop has met an element that raised; None where loops are not all of it.

        Also where that loop did not run.
        """
        bound, before = run.bound, run.parts or ()
        if workspace.raised is None or len(loop.stages) != len(run.rest):
            return None
        if len(loop.stages) == len(bound.stages):
            sites = tuple(stage.site for stage in bound.stages)  # over fields, with the `zip` of these
            here = changed(bound, site=changed(bound.site, stages=sites))
            return cls([here], [], [changed(loop, bound=here)], workspace.raised, group, workspace)
        if not before or any(part.outcome is None for part in before):
            return None
        here = run.part(loop.stages)
        last = cls([here], [], [changed(loop, bound=here)], workspace.raised, group, workspace)
        return cls([bound], [], [], None, group, parts=(*before, Part(here, last)))

    @property
    def workspaces(self) -> list[Workspace]:
        """What its loops read."""
        own = [part.outcome for part in self.parts if part.outcome is not None] or [self]
        return [each.workspace for each in own if each.workspace is not None]

    @property
    def whole(self) -> bool:
        """Whether one compiled loop for each value computed it, so that other back ends can be asked for the same."""
        ran = self.execution
        whole = ran is not None and len(self.loops) == len(self.values)
        whole = whole and all(map(_reaches_end, self.loops, self.bounds))
        return whole and not self.handed and not any(loop.built.bespoke for loop in self.loops)

    @property
    def recomputed(self) -> bool:
        """Whether integers left 64 bits, and Python computed them."""
        return self.execution is not None and self.execution.fell_back

    @property
    def bespoke(self) -> bool:
        """Whether compiled loops computed all of it, of which some are made for its very elements."""
        # Where a loop went over fields, it has a stage of its own, in place of one that Python may have run.
        complete = self.handed or sum(len(loop.stages) for loop in self.loops) == sum(
            len(bound.stages) for bound in self.bounds
        )
        complete = complete and not (self.by_python or self.recomputed)
        found = (
            self.handed
            or any(loop.built.bespoke for loop in self.loops)
            or len(self.loops) > len(self.values)
        )
        return self.execution is not None and complete and found


def _reaches_end(loop: Loop, bound: Bound) -> bool:
    """Whether the loop's last stage is the statement's; its first ones may stand for what the source is made of."""
    return not bound.stages or loop.stages[-1].site.span[2:] == bound.stages[-1].site.span[2:]
