"""Pipelines inside functions and larger expressions, while their cell runs: they may run many times in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, NamedTuple

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.changing import Changing
from hastega_magic.compiler.driver import Driver
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.repeating.alike import Display
from hastega_magic.compiler.statement import Bound, bound_of
from hastega_magic.records import dataclass
from hastega_magic.syntax.site import Site
from hastega_magic.trace import Event, Trace

if TYPE_CHECKING:
    from hastega_magic.compiler.repeating.repeated import Repeated


class _Known(NamedTuple):
    """A pipeline that has run. `group`: where the trace tells of that; `bound`: it, without data."""

    group: int
    bound: Bound
    repeated: Repeated


@dataclass
class CellTurns:
    """The pipelines of one cell that ran so. The report tells of the first run of each, and counts the others."""

    driver: Driver
    changing: Changing
    options: Options
    filename: str
    _known: dict[int, _Known] = field(default_factory=dict[int, "_Known"])
    _failed: tuple[BaseException, Bound] | None = None

    def run(self, site: Site, source: object, stages: Sequence[Display]) -> object:
        """The value; raises what Python raises."""
        driver, known = self.driver, self._known.get(site.id)
        around, driver.current = driver.current, Bound(site, None, ()) if known is None else known.bound
        forget_inputs()
        try:
            return self._first(site, source, stages) if known is None else known.repeated.run(source, stages)
        except BaseException as error:
            if self._failed is None or self._failed[0] is not error:
                self._failed = error, driver.current
            raise
        finally:
            driver.current = around  # which may catch it, and go on

    def failing(self, error: BaseException) -> Bound | None:
        """The innermost of the pipelines that the exception left; None if it is of none of them."""
        return self._failed[1] if self._failed is not None and self._failed[0] is error else None

    def forget(self) -> None:
        """Let go of the last exception, whose frames hold values."""
        self._failed = None

    def _first(self, site: Site, source: object, stages: Sequence[Display]) -> object:
        bound = self.driver.current = self.changing.look(bound_of(site, source, stages))
        outcome = self._alone(bound)
        self.changing.learn(outcome)
        again = replace(self.options, tune=False)
        from hastega_magic.compiler.repeating.repeated import Repeated

        repeated = Repeated(site, again, self.filename, varying=bound.varying, runs=1)
        repeated.ran(bound, outcome)
        self._known[site.id] = _Known(outcome.group, Bound(site, None, ()), repeated)
        return outcome.values[0]

    def _alone(self, bound: Bound) -> Outcome:
        """Run it by a driver of its own: a function that another pipeline calls may hold it, which goes on then."""
        trace = self.driver.trace
        group = trace.group
        try:
            own = Driver(self.options, self.filename, trace, self.driver.wanted)
            return own.run_alone(bound, bound.source)
        finally:
            trace.group = group

    def tell(self, trace: Trace) -> None:
        """Count the runs for the report, and tell of numbers that changed."""
        for group, bound, turns in self._known.values():
            if turns.runs > 1:
                self.changing.seen(bound.site.text, turns.varying)
                told = f"This pipeline ran {turns.runs} times in the cell; the figures are those of the first time."
                said = {each.data.get("text") for each in trace.events if each.group == group}
                later = [f"Later {each}" for each in turns.changing() if each not in said]
                trace.events.append(Event("which_run", group, {"text": told}))
                trace.events += [Event("why", group, {"text": text}) for text in later]


__all__ = ["CellTurns"]
