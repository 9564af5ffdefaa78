"""Statements of a session's cells that one loop computed: when their cell runs again, they begin where it is compiled.

The statement is bound as ever. Where its functions, what they read, and the kind of its sources are as they were,
neither are its stages looked at again, nor is the loop searched for by its structure. So with several that one loop
computed: the first one's entry has the group.
"""

from __future__ import annotations

from dataclasses import field

from hastega_magic.compiler.choice.schedule_store import something
from hastega_magic.compiler.fastpath.group_cache import CachedGroup, Expected, Matched, cached_group
from hastega_magic.compiler.fastpath.guards import DoesNotFit, RunGuards
from hastega_magic.compiler.fastpath.learned_guards import guards_of
from hastega_magic.compiler.loops import still_cached
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Group, Outcome
from hastega_magic.compiler.statement import Bound
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.lru import LruCache
from hastega_magic.records import dataclass
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
    guards: RunGuards | None
    group: CachedGroup | None = None
    misses: int = 0

    def missed(self) -> None:
        """This run is another: what it leaves may be kept in place of this."""
        self.guards, self.group, self.misses = None, None, self.misses + 1


@dataclass
class StatementCache:
    """The statements, by the number of their site; those of another text have other numbers."""

    _known: LruCache[int, _Known] = field(default_factory=lambda: LruCache[int, _Known](_STATEMENTS))

    def known(
        self, bound: Bound, group: Group | None, producer: str | None, options: Options, filename: str
    ) -> Group | Matched | None:
        """What an earlier run left of a statement that is as it was; None where it has to be looked at.

        `group`: the open one, if there is one; `producer`: its variable that the statement goes over. A statement that
        was alone is given as a group of its own, with its compiled loop; of a group's, its loop.
        """
        if group is not None:
            if group.expected is None:
                return None
            return self._next(
                self._known.get(group.expected.first), group.expected, bound, group.workspace, producer
            )
        known = self._known.get(bound.site.id)
        if known is None or (found := known.guards or known.group) is None or bound.varying:
            return None
        other = known.options is not options and known.options != options
        if other or not still_cached(found.execution.compiled):
            return known.missed()
        workspace = Workspace(filename)
        if isinstance(found, CachedGroup):
            return self._next(known, found.begin(), bound, workspace, producer)
        displays = [(stage.callee, stage.args, stage.kwargs) for stage in bound.stages]
        try:
            operands, arguments, _ = found.fitting(bound.source, displays)
            loop, fused = found.over(operands, arguments, bound, workspace)
        except (DoesNotFit, NullsError):
            return known.missed()
        known.misses = 0
        return Group(workspace, [loop], (found.execution.compiled, fused))

    def _next(
        self,
        known: _Known | None,
        expected: Expected,
        bound: Bound,
        workspace: Workspace,
        producer: str | None,
    ) -> Matched | None:
        if known is None:  # others ran since, and there was no room for it
            return None
        try:
            found = expected.next(bound, workspace, producer)
        except (DoesNotFit, NullsError):
            return known.missed()
        if found.expected.compiled is not None:
            known.misses = 0
        return found

    def guards(self, site: Site) -> RunGuards | None:
        """What decides whether the loop of a statement fits, if that is known."""
        known = self._known.get(site.id)
        return None if known is None else known.guards

    def learn(self, outcome: Outcome, options: Options) -> None:
        """Keep what decides whether the loop of this outcome fits again, if it was one over arrays and ranges."""
        bound = outcome.bounds[0]
        known = self._known.get(bound.site.id)
        if known is not None and (known.group or known.misses >= _MISSES):
            return
        if known is not None and known.guards is not None and _ran(known.guards, outcome):
            return
        if not options.fuse or options.on == "all":
            return
        if bound.source is None:  # the result of a statement of its group
            return
        known = known or self._known.put(bound.site.id, _Known(options, None))
        if len(outcome.bounds) > 1:
            known.options, known.group = options, cached_group(outcome)
        else:
            found = None if bound.varying else guards_of(bound, outcome)
            if found is not None and _keepable(found):
                known.options, known.guards = options, found


def _ran(known: RunGuards, outcome: Outcome) -> bool:
    """Whether it was this loop that ran, and not one with the schedule that was found for another back end."""
    ran = outcome.execution
    return ran is None or ran.compiled is known.execution.compiled or not something()


def _keepable(found: RunGuards) -> bool:
    """Whether nothing is kept that holds the user's data, as arrays that functions read, and nothing is converted."""
    simple = all(each.source.kind in ("array", "range") for each in found.slots)
    return simple and not found.execution.job.tables and not found.numbers and not found.captured.holds_data


__all__ = ["StatementCache"]
