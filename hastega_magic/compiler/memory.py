"""What the cells of a session leave to those that run after them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from hastega_magic.compiler.adaptive import AdaptiveConstants
from hastega_magic.compiler.comparing.remembered import Remembered
from hastega_magic.compiler.fastpath.brief import Briefs
from hastega_magic.compiler.fastpath.hooks import PIPES, Hooks
from hastega_magic.compiler.fastpath.statement_cache import StatementCache
from hastega_magic.lru import LruCache
from hastega_magic.records import dataclass

if TYPE_CHECKING:
    from hastega_magic.compiler.fastpath.ordinary import OrdinaryCode
    from hastega_magic.compiler.fastpath.repeated import Repeated
    from hastega_magic.compiler.options import Options


@dataclass
class Memory:
    """All of it; each session has its own, but for pipes."""

    adaptive: AdaptiveConstants = field(default_factory=AdaptiveConstants)
    """Numbers that statements capture."""
    statements: StatementCache = field(default_factory=StatementCache)
    """Statements that ran as one loop."""
    hooks: Hooks = field(default_factory=Hooks)
    """What the code of cells calls."""
    ordinary: LruCache[tuple[int, Options], OrdinaryCode] = field(default_factory=lambda: LruCache(256))
    """Ordinary code of cells that may run again, and with which options it is tried."""
    holding: dict[int, Repeated] = field(default_factory=dict[int, "Repeated"])
    """Those of them that keep forms, by identity."""
    remembered: Remembered = field(default_factory=Remembered)
    """What the baselines gave."""
    briefs: Briefs = field(default_factory=Briefs)
    """Cells that are one statement, which ran with nobody looking."""
    futures: int = 0
    """What `from __future__ import ...` in a cell has set, which holds for those after it, as it does in IPython."""

    @property
    def nested(self) -> dict[int, Repeated]:
        """Pipelines inside functions and larger expressions, which may be run when their cell is long over."""
        return self.hooks.nested

    def begin(self) -> None:
        """A cell begins: pipelines and cells that have not run of late let go of what is kept of them."""
        self.remembered.age()
        for each in (*self.holding.values(), *PIPES.values()):
            each.aged()


__all__ = ["Memory"]
