"""Pipelines inside functions and larger expressions, while their cell runs: they may run many times in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, NamedTuple

from hastega_magic.compiler.adaptive import AdaptiveConstants
from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.driver import Driver
from hastega_magic.compiler.fastpath.guards import Display
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.statement import Bound, bound_of
from hastega_magic.records import dataclass
from hastega_magic.syntax.site import Site
from hastega_magic.trace import Event, Trace, is_ours

if TYPE_CHECKING:
    from hastega_magic.compiler.fastpath.repeated import Repeated


class _Known(NamedTuple):
    """A pipeline that has run. `group`: where the trace tells of that; `bound`: it, without data."""

    group: int
    bound: Bound
    repeated: Repeated
    gave: bool = True
    """Whether it has given a value."""


@dataclass
class CellTurns:
    """The pipelines of one cell that ran so. The report tells of the first run of each, and counts the others."""

    driver: Driver
    adaptive: AdaptiveConstants
    options: Options
    filename: str
    _known: dict[int, _Known] = field(default_factory=dict[int, "_Known"])
    _raised: list[_Known] = field(default_factory=list["_Known"])
    """What is known of runs that raised before one gave a value."""
    _failed: tuple[BaseException, Bound] | None = None

    def run(self, site: Site, source: object, stages: Sequence[Display]) -> object:
        """The value; raises what Python raises."""
        driver, known = self.driver, self._known.get(site.id)
        around, driver.current = driver.current, Bound(site, None, ()) if known is None else known.bound
        forget_inputs()
        try:
            if known is None or not known.gave:
                return self._first(site, source, stages, known)
            return known.repeated.run(source, stages)
        except BaseException as error:
            if self._failed is None or self._failed[0] is not error:
                self._failed = error, driver.current
            known = self._known.get(site.id)
            if known is not None and not known.gave:
                known.repeated.runs += 1
            raise
        finally:
            driver.current = around  # which may catch it, and go on

    def failing(self, error: BaseException) -> Bound | None:
        """The innermost of the pipelines that the exception left; None if it is of none of them."""
        return self._failed[1] if self._failed is not None and self._failed[0] is error else None

    def forget(self) -> None:
        """Let go of the last exception, whose frames hold values."""
        self._failed = None

    def _first(self, site: Site, source: object, stages: Sequence[Display], known: _Known | None) -> object:
        """The first run that gives a value; `known`: the first one of those that raised."""
        if known is not None:
            known.repeated.fail(source, stages)
        bound = self.driver.current = self.adaptive.look(bound_of(site, source, stages))
        # A driver of its own: a function that another pipeline calls may hold it, which goes on then.
        trace = self.driver.trace
        own, group = Driver(self.options, self.filename, trace, self.driver.wanted), trace.group
        from hastega_magic.compiler.fastpath.repeated import Repeated

        again = replace(self.options, tune=False)
        repeated = Repeated(site, again, self.filename, varying=bound.varying, runs=1)
        begin = len(trace.events)
        try:
            outcome = own.run_alone(bound, bound.source)
        except Exception:
            number = trace.group
            if known is None:
                repeated.runs = 0
                known = _Known(number, Bound(site, None, ()), repeated, gave=False)
                self._known[site.id] = known
            else:  # the first one of those that raised is told of
                trace.events[begin:] = [each for each in trace.events[begin:] if each.group != number]
            known.repeated.broke(bound, own.broken)
            raise
        finally:
            trace.group = group
        if known is not None:
            self._raised.append(known)
        self.adaptive.learn(outcome)
        repeated.ran(bound, outcome)
        self._known[site.id] = _Known(outcome.group, Bound(site, None, ()), repeated)
        return outcome.values[0]

    def tell(self, trace: Trace, ended: BaseException | None) -> None:
        """Count the runs for the report, and tell of numbers that changed. `ended`: what the cell ended with."""
        failing = None if ended is None or is_ours(ended) else self.failing(ended)
        last = "" if failing is None else f", one of which raised {type(ended).__name__} and ended it"
        for group, bound, turns, gave in (*self._raised, *self._known.values()):
            timed = self.options.baseline and any(
                each.kind == "vector" for each in trace.events if each.group == group
            )
            if timed and gave:
                trace.events.append(Event("which_run", group, {"text": _NOT_TIMED}))
            if turns.runs > 1:
                self.adaptive.seen(bound.site.text, turns.varying)
                fails = failing is not None and failing.site is bound.site
                often = f"ran {turns.runs} times in the cell{last if fails else ''}"
                if fails and gave:
                    trace.events.append(Event("raised_later", group, {"error": type(ended).__name__}))
                if not gave:
                    often = f"raised in each of its first {turns.runs} runs"
                told = f"This pipeline {often}; the figures are those of the first time."
                said = {each.data.get("text") for each in trace.events if each.group == group}
                later = [f"Later {each}" for each in turns.changing() if each not in said]
                trace.events.append(Event("which_run", group, {"text": told}))
                trace.events += [Event("why", group, {"text": text}) for text in later]


_NOT_TIMED = "Pure Python and NumPy are not timed in a loop, a function or a larger expression."


__all__ = ["CellTurns"]
