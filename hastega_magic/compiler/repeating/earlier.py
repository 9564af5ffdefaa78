"""Statements of a session's cells that one loop computed: when their cell runs again, they begin where it is compiled.

The statement is bound as ever. Where its functions, what they read, and the kind of its sources are as they were,
neither are its stages looked at again, nor is the loop searched for by its structure.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from hastega_magic.compiler.loops import still_cached
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Group, Outcome
from hastega_magic.compiler.repeating.alike import Again, Alike, alike
from hastega_magic.compiler.statement import Bound
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.runtime.columnar import NullsError
from hastega_magic.syntax.site import Site

_STATEMENTS = 64
"""Statements that are remembered."""

_MISSES = 3
"""After so many runs in a row that were others, a statement is forgotten for good."""


@dataclass
class _Known:
    """What a run left; `options`: those that it ran with."""

    options: Options
    alike: Alike | None
    misses: int = 0

    def missed(self) -> None:
        """This run is another: what it leaves may be kept in place of this."""
        self.alike, self.misses = None, self.misses + 1


@dataclass
class Earlier:
    """The statements, by the number of their site; those of another text have other numbers."""

    _known: OrderedDict[int, _Known] = field(default_factory=OrderedDict[int, _Known])

    def group(self, bound: Bound, options: Options, filename: str) -> Group | None:
        """The statement as a group of its own, with its compiled loop; None where it has to be looked at."""
        known = self._known.get(bound.site.id)
        if known is None or known.alike is None or bound.varying:
            return None
        other = known.options is not options and known.options != options
        if other or not still_cached(known.alike.execution.compiled):
            return known.missed()
        displays = [(stage.callee, stage.args, stage.kwargs) for stage in bound.stages]
        workspace = Workspace(filename)
        try:
            operands, arguments, _ = known.alike.fitting(bound.source, displays)
            loop, fused = known.alike.over(operands, arguments, bound, workspace)
        except (Again, NullsError):
            return known.missed()
        known.misses = 0
        return Group(workspace, [loop], (known.alike.execution.compiled, fused))

    def alike(self, site: Site) -> Alike | None:
        """What decides whether the loop of a statement fits, if that is known."""
        known = self._known.get(site.id)
        return None if known is None else known.alike

    def learn(self, outcome: Outcome, options: Options) -> None:
        """Keep what decides whether the loop of this outcome fits again, if it was one over arrays and ranges."""
        bound = outcome.bounds[0]
        known = self._known.get(bound.site.id)
        if known is not None and (known.alike is not None or known.misses >= _MISSES):
            return
        if len(outcome.bounds) != 1 or not options.fuse or options.on == "all":
            return
        if bound.source is None:  # the result of a statement of its group
            return
        known = self._known.setdefault(bound.site.id, _Known(options, None))
        found = None if bound.varying else alike(bound, outcome)
        if found is not None and _keepable(found):
            known.options, known.alike = options, found
        while len(self._known) > _STATEMENTS:
            self._known.popitem(last=False)


def _keepable(found: Alike) -> bool:
    """Whether nothing is kept that holds the user's data, as arrays that functions read, and nothing is converted."""
    simple = all(each.source.kind in ("array", "range") for each in found.slots)
    return simple and not found.execution.job.tables and not found.numbers and not found.captured.holds_arrays


__all__ = ["Earlier"]
