"""Pipelines inside functions and larger expressions, while their cell runs: they may run many times in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.changing import Changing
from hastega_magic.compiler.driver import Driver
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.repeating.alike import Display
from hastega_magic.compiler.repeating.repeated import Repeated
from hastega_magic.compiler.statement import Bound, bound_of
from hastega_magic.syntax.site import Site
from hastega_magic.trace import Event, Trace


@dataclass
class CellTurns:
    """The pipelines of one cell that ran so. The report tells of the first run of each, and counts the others."""

    driver: Driver
    changing: Changing
    options: Options
    filename: str
    _known: dict[int, tuple[int, Repeated, Bound]] = field(
        default_factory=dict[int, tuple[int, Repeated, Bound]]
    )

    def run(self, site: Site, source: object, stages: Sequence[Display]) -> object:
        """The value; raises what Python raises."""
        known = self._known.get(site.id)
        forget_inputs()
        if known is None:
            bound = self.changing.look(bound_of(site, source, stages))
            outcome = self.driver.run_alone(bound, source)
            self.changing.learn(outcome)
            again = replace(self.options, tune=False)
            repeated = Repeated(site, again, self.filename, varying=bound.varying, runs=1)
            repeated.ran(bound, outcome)
            self._known[site.id] = outcome.group, repeated, Bound(site, None, ())
            return outcome.values[0]
        self.driver.current = known[2]
        return known[1].run(source, stages)

    def tell(self, trace: Trace) -> None:
        """Count the runs for the report, and tell of numbers that changed."""
        for group, turns, _ in self._known.values():
            if turns.runs > 1:
                told = (
                    f"This pipeline ran {turns.runs} times in the cell; the figures are those of the first."
                )
                said = {each.data.get("text") for each in trace.events if each.group == group}
                for text in (told, *turns.changing()):
                    if text not in said:
                        trace.events.append(Event("why", group, {"text": text}))


__all__ = ["CellTurns"]
