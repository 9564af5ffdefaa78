"""How far a statement has come that runs alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.outcome import Part
from hastega_magic.compiler.python.empty import is_empty, typed, wide
from hastega_magic.compiler.reporting.stacked import LoopTexts
from hastega_magic.compiler.statement import Bound, Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import Reason
from hastega_magic.records import dataclass
from hastega_magic.syntax.loops.build import BoundStage

if TYPE_CHECKING:
    from hastega_magic.compiler.python.lockstep import Before


@dataclass
class StatementRun:
    """A statement that runs alone: the value so far, the stages that are left, and the loops that ran.

    `waiting`: why the next stage could not join the last loop. `execution` is the last loop's, `workspaces`
    are all of theirs.
    """

    bound: Bound
    value: object
    rest: list[BoundStage]
    loops: list[Loop] = field(default_factory=list[Loop])
    execution: Execution | None = None
    first: tuple[Execution, Loop] | None = None
    workspaces: list[Workspace] = field(default_factory=list[Workspace])
    waiting: Reason | None = None
    texts: list[LoopTexts] = field(default_factory=list[LoopTexts])
    parts: list[Part] | None = field(default_factory=list[Part])
    looped: Before | None = None
    """The stages since Python's last ones, which loops ran."""
    compiled: bool = False
    """Whether a loop was compiled that had not been before."""
    handed: bool = False
    """Whether the loops ran at once, one handing its elements to the next."""
    by_python: bool = False
    """Whether Python ran some of the stages."""
    drawn: list[object] | None = None
    """The first element that Python drew from an iterator, once it did."""
    looked_at: bool = False
    """Whether Python looked at elements as `--int checked` has it."""
    collection: object = None
    """Of Python's own, whose elements the value is; None: the value is what there is to go over."""

    @property
    def workspace(self) -> Workspace | None:
        """The last loop's."""
        return self.workspaces[-1] if self.workspaces else None

    @property
    def given(self) -> object:
        """What Python goes over: a set, dict or deque notices that a function changes it meanwhile."""
        return self.value if self.collection is None else self.collection

    def goes_on(
        self,
        value: object,
        rest: Sequence[BoundStage],
        waiting: Reason | None = None,
        part: Part | None = None,
        of_loop: bool = False,
        of_python: bool = False,
    ) -> None:
        """With another value, and fewer stages; `part`: those that took it there, if another run may do the same.

        `of_loop`: no Python function of theirs was called. `of_python`: some may have been, which anybody may notice.
        """
        self.by_python = self.by_python or of_python
        ran = self.rest[: len(self.rest) - len(rest)]
        of_loop = of_loop or (part is not None and part.outcome is not None)
        self.looped = self.begun().further(ran) if of_loop else None
        self.value, self.rest, self.waiting, self.collection = value, list(rest), waiting, None
        if part is None:
            self.parts = None
        elif self.parts is not None:
            self.parts.append(part)

    def lists(self) -> None:
        """Make the value one that can be looked at more than once; what a stage gave has Python's numbers.

        A `tap` gives nothing: behind it the value is the source.
        """
        from hastega_magic.compiler.sources.iterators import is_of_python, iterable
        from hastega_magic.runtime.python_numbers import python_numbers

        given, listed = self.value, iterable(self.value)
        ran = self.bound.stages[: len(self.bound.stages) - len(self.rest)]
        is_source = all(each.callee is None and each.site.name == "tap" for each in ran)
        self.value = listed if is_source else python_numbers(listed)
        self.collection = given if self.value is listed and is_of_python(given) else None

    def begins(self, bound: Bound, source: object) -> None:
        """Over what stands for the value and for some stages before it."""
        self.bound, self.value, self.rest, self.parts = bound, source, list(bound.stages), []
        self.collection = None

    def begun(self) -> Before:
        """What loops went before, if none but the value."""
        from hastega_magic.compiler.python.lockstep import Before

        return self.looped or Before(self.given, ())

    def through(self, go_on: Callable[[StatementRun], None]) -> None:
        """Go on until no stage is left. An array without elements that Python made has the type that loops give."""
        bound, source, stages = self.bound, self.value, tuple(self.rest)
        while self.rest:
            go_on(self)
        value = self.value
        # Of wide chunks a loop knows those that there were, of which the last may be shorter.
        if is_empty(value) and (self.looped is None or any(map(wide, stages))):
            source = source if self.drawn is None else self.drawn
            self.value = typed(value, replace(bound, stages=stages), source)
            self.parts = self.parts if self.value is value else None  # another run would not look again

    def part(self, stages: Sequence[BoundStage]) -> Bound:
        """Some of its stages as a statement over the value so far."""
        sites = tuple(stage.site for stage in stages)
        return replace(
            self.bound, site=replace(self.bound.site, stages=sites), source=self.value, stages=tuple(stages)
        )


__all__ = ["StatementRun"]
