"""What `--on auto` would choose once more for a loop that runs again, without a look at its sources.

Models and what was learned say it for a number of elements, in some microseconds. Runs that go by it teach nothing: it
is not said before as many runs of about that size have taught as count, and every eighth is to teach.
"""

from __future__ import annotations

from typing import cast

from hastega_magic.compiler.backends import Cpu, backend_of
from hastega_magic.compiler.choice import costs, schedule_store
from hastega_magic.compiler.choice.auto import case_of, costs_of, host_anyway
from hastega_magic.compiler.choice.learning import SELDOM, teaches
from hastega_magic.compiler.loops import CompiledLoop, tuning_key
from hastega_magic.compiler.options import Options, placed
from hastega_magic.compiler.statement import Loop
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.runtime.threads import here


@dataclass
class StandingChoice:
    """The choice of a back end for one loop of the CPU's that runs again. `options`: those of its cell."""

    compiled: CompiledLoop
    loop: Loop
    options: Options
    outdated: bool = False
    """Whether a schedule was found for what it chose last, and the loop has another one."""
    _runs: int = 0
    """How many went by it since one taught."""

    def backend(self, length: int) -> Cpu | None:
        """The back end that runs so many elements; None where the usual way has to choose, or to teach."""
        pinned = costs.auto()
        on = pinned or self._chosen(length)
        if on not in ("simd", "parallel"):
            return None
        options, compiled = placed(self.options, on), self.compiled
        backend = cast(Cpu, backend_of(options))
        # The loop is as it is for the back end of its last run, which may be another.
        if schedule_store.something():
            key = tuning_key(compiled.structure, compiled.state.large, options, backend)
            self.outdated = key != compiled.tuning_key and schedule_store.found(key) != compiled.finding
            if self.outdated:
                return None
        few = not pinned and here(backend.threads, -(-length // BLOCK), short=True)
        return Cpu("simd", 1) if few else backend

    def _chosen(self, length: int) -> str:
        compiled = self.compiled
        body = compiled.bodies.get(compiled.first)
        if body is None:
            return ""
        models = costs_of(compiled, body.kernel, (self.loop,), self.options)
        on = host_anyway(models, case_of(body.kernel, models.features, length))
        if on and costs.learning() and teaches(self.options, on):
            self._runs += 1
            if self._runs >= SELDOM or not costs.learned().settled(models.loop, on, length):
                self._runs = 0
                return ""
        return on


__all__ = ["StandingChoice"]
