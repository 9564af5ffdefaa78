"""How far a statement has come that runs alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.statement import Bound, Loop
from hastega_magic.compiler.telling.stacked import LoopTexts
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import Reason
from hastega_magic.syntax.build import BoundStage


@dataclass
class UnderWay:
    """A statement that runs alone: the value so far, the stages that are left, and the loops that ran.

    `waiting`: why the next stage could not join the last loop. `execution` and `workspace` are the last loop's.
    """

    bound: Bound
    value: object
    rest: list[BoundStage]
    loops: list[Loop] = field(default_factory=list[Loop])
    execution: Execution | None = None
    first: tuple[Execution, Loop] | None = None
    workspace: Workspace | None = None
    waiting: Reason | None = None
    texts: list[LoopTexts] = field(default_factory=list[LoopTexts])

    def goes_on(self, value: object, rest: Sequence[BoundStage], waiting: Reason | None = None) -> None:
        """With another value, and fewer stages."""
        self.value, self.rest, self.waiting = value, list(rest), waiting


__all__ = ["UnderWay"]
