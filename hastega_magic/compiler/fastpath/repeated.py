"""A pipeline that may run many times: in a function, in the body of a loop, in a lazy form.

The first run is that of any statement; the next ones, over sources of the same kind and with functions that read the
same values, begin where the loop is compiled. What the report says of it is kept, sources and results are not. What its
functions read is kept until two cells have begun without it (`aged`).
"""

from __future__ import annotations

import atexit
import time
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from hastega_magic.compiler.adaptive import in_a_loop, kept_changing
from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.driver import Driver
from hastega_magic.compiler.fastpath.guards import Display, DoesNotFit, given, places
from hastega_magic.compiler.fastpath.recompilation import Recompilation
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.python.empty import UNTOLD, of_nothing
from hastega_magic.compiler.reporting.deferred import DeferredReport, remember
from hastega_magic.compiler.statement import Bound
from hastega_magic.frames import suppressed
from hastega_magic.records import dataclass
from hastega_magic.report import units
from hastega_magic.runtime.objects.look_words import counter
from hastega_magic.runtime.signals import with_signals
from hastega_magic.syntax.closures.contained import Where, is_item
from hastega_magic.syntax.closures.numbers import Number
from hastega_magic.syntax.closures.numbers_read import items_beside, numbers_read
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.site import Site
from hastega_magic.trace import Trace

if TYPE_CHECKING:
    from hastega_magic.compiler.fastpath.in_parts import InParts
    from hastega_magic.compiler.fastpath.prepared import Prepared
    from hastega_magic.compiler.fastpath.raising import Raising
    from hastega_magic.compiler.fastpath.standing import Standing
    from hastega_magic.syntax.ordinary.scalars import Scalars

_KEPT = 8
"""Forms of one pipeline that are kept ready: other types of sources, other values of what its functions read."""

_RAISED = 2
"""As many loops as that of which elements have raised."""

_IDLE = 32
"""Cells without a run after which no forms are kept."""


@dataclass
class Form:
    """One of the forms in which a pipeline ran."""

    deferred_report: DeferredReport
    prepared: Prepared | Standing | InParts | None = None
    seconds: float = 0.0
    """Of its last run."""
    scalars: Scalars | None = None
    """What it gives by NumPy's rules, where elements are NumPy's scalars."""
    arrays: tuple[bool, ...] = ()
    """Which of its sources are NumPy arrays, in ordinary code."""
    again: bool = False
    """Whether its last run was not its first."""

    @property
    def holds_data(self) -> bool:
        """Whether arrays or objects of the user's stay alive with it."""
        return self.prepared is not None and self.prepared.holds_data


@dataclass
class Repeated:
    """The runs of one pipeline. `filename`: how the text that it stands in is called."""

    site: Site
    options: Options
    filename: str
    warn_at: tuple[str, int] | None = None
    """Where warnings say that they come from, if not in that text."""
    varying: frozenset[Where] = frozenset()
    """Captured numbers that keep changing: parameters of what is compiled from now on."""
    constant: bool = False
    """Captured numbers are constants all the same: the loop cannot do without knowing them."""
    runs: int = 0
    """How often it ran since that was last set to 0."""
    few_runs: array[int] = field(default_factory=counter)
    """Runs of ordinary code over few elements that are not among them yet."""
    form: Form | None = None
    """The one that ran last."""
    idle: int = 0
    """Cells that have begun since it ran."""
    began: float = 0.0
    """When it ran last, on the monotonic clock."""
    registry: dict[int, Repeated] | None = field(default=None, repr=False)
    """Where it is found, by identity, while it keeps forms."""
    _forms: list[Form] = field(default_factory=list[Form])
    _raised: list[Prepared | Standing | Raising] = field(
        default_factory=list["Prepared | Standing | Raising"]
    )
    """Loops of which elements have raised, and nothing else is known."""
    _recompilation: Recompilation = field(default_factory=Recompilation)
    _numbers: Mapping[Where, tuple[Number, ...]] = field(default_factory=dict[Where, "tuple[Number, ...]"])
    """Those that were captured when a form was looked for."""
    _changed: frozenset[Where] = frozenset()
    """Those that were seen to change."""
    _narrow: bool = False
    """Whether only these are parameters, and not all numbers of a container of which one has changed."""

    def __post_init__(self) -> None:
        """Nobody looks while it runs."""
        self.options = replace(self.options, quiet=True)

    def __reduce__(self) -> tuple[object, ...]:
        """As new, for functions that are sent to other processes."""
        return type(self), (self.site, self.options, self.filename, self.warn_at)

    def counted(self) -> None:
        """Count the runs that `few_runs` tells of as well."""

    def run(self, source: object, displays: Sequence[Display]) -> object:
        """The value for a source and the stages' arguments; raises what Python raises."""
        self.runs += 1
        self._recompilation.runs += 1
        self.idle = 0
        began = self.began = time.perf_counter()
        for form in self._forms:
            if form.prepared is not None:
                try:
                    value = form.prepared.run(source, displays)
                except DoesNotFit:
                    continue
                form.seconds, form.again = time.perf_counter() - began, True
                self.form = form
                return value
        self.fail(source, displays)
        found = UNTOLD
        cuts = self.options.int_mode == "wrap"  # also what a reduction begins with
        if self._forms and not self.options.strict and not cuts:
            sites = self.site.stages
            calls = [(site.name, *display) for site, display in zip(sites, displays, strict=True)]
            found = of_nothing(source, calls)
        return self._first(source, displays) if found is UNTOLD else found

    def fail(self, source: object, displays: Sequence[Display]) -> None:
        """Raise what an element raises, where one of an earlier run of the loop did.

        What it gives otherwise is found anew, and told of.
        """
        for each in self._raised:
            with suppress(DoesNotFit):
                each.run(source, displays)
                return

    def broke(self, bound: Bound, outcome: Outcome | None) -> None:
        """Keep the loop of a run of which an element raised."""
        if outcome is None or _ended or self.options.repeat != 1:
            return
        found: Prepared | Standing | Raising | None
        if outcome.parts:
            from hastega_magic.compiler.fastpath.raising import raising_loops

            found = raising_loops(bound, outcome, self.options, self.filename)
        else:
            from hastega_magic.compiler.fastpath.fielded import prepared

            found = prepared(bound, outcome, self.options, self.filename, mends=True)
            found = found if found is None or found.guards.renewable else None
        if found is not None:
            self._raised.insert(0, found)
            del self._raised[_RAISED:]
            self._register()

    def advise(self, error: Exception, source: object, displays: Sequence[Display]) -> None:
        """Note on what a run raised the nearest form that works, if it is clear which stage raised it."""
        from hastega_magic.compiler.python.blame import add_sentence

        add_sentence(error, self._bound(source, displays))

    def _bound(self, source: object, displays: Sequence[Display]) -> Bound:
        pairs = zip(self.site.stages, displays, strict=True)
        return Bound(self.site, source, tuple(BoundStage(site, *display) for site, display in pairs))

    def _first(self, source: object, displays: Sequence[Display]) -> object:
        forget_inputs()
        trace = Trace()
        bound = self._bound(source, displays)
        self.look(bound)
        bound = replace(bound, varying=self.varying)
        driver = Driver(
            self.options, self.filename, trace, warn_at=self.warn_at, sparing=self._recompilation.sparing
        )
        began = time.perf_counter()
        try:
            outcome = with_signals(lambda: driver.run_alone(bound, source))
        except Exception:
            self.broke(bound, driver.broken)
            raise
        seconds = time.perf_counter() - began
        self.options = replace(self.options, tune=False)
        self.taken(outcome)
        found = None
        if not self._recompilation.spared(outcome, seconds):
            from hastega_magic.compiler.fastpath.in_parts import ready

            found = ready(bound, outcome, self.options, self.filename, self.warn_at)
        self.keep(Form(remember(outcome, trace), found, seconds))
        return outcome.values[0]

    def ran(self, bound: Bound, outcome: Outcome) -> None:
        """Begin with what a run left that the report has told of."""
        from hastega_magic.compiler.fastpath.in_parts import ready

        found = ready(bound, outcome, self.options, self.filename, self.warn_at)
        if found is not None:
            self.keep(Form(DeferredReport(()), found))

    def look(self, bound: Bound) -> None:
        """See whether this run differs from an earlier one only by numbers that its functions capture."""
        if self.constant or self.options.on in ("python", "numpy"):
            return
        before, self._numbers = self._numbers, {}
        arguments = given(bound), places(bound)
        with suppressed():  # of an object that says what its class is
            self._numbers = numbers_read(*arguments)
            moving = in_a_loop(bound, self._numbers, *arguments)
            self.varying |= {each for each in moving if not (self._narrow and is_item(each))}
        if all(form.prepared is None for form in self._forms):  # let go of, or a device's: none knows numbers
            self.varying |= {where for where, was in before.items() if self._numbers.get(where, was) != was}
        for form in self._forms:
            changed = None if form.prepared is None else form.prepared.changed(bound)
            if changed:
                self._changed |= changed
                self.varying |= changed
                if not self._narrow:
                    self.varying |= items_beside(*arguments, filter(is_item, changed))
                return

    def taken(self, outcome: Outcome) -> None:
        """See whether the loop could do without knowing the numbers that keep changing."""
        if self.varying and not any(each.varying for each in outcome.workspaces):
            self.without()

    def without(self) -> None:
        """The loop cannot do without knowing all of these numbers: it is not tried again."""
        others = {each for each in self.varying if is_item(each) and each not in self._changed}
        if others:  # which need not have changed
            self.varying, self._narrow = self.varying - others, True
        else:
            self.varying, self.constant = frozenset(), True

    def keep(self, form: Form) -> None:
        """The form that ran last, before the others."""
        if _ended:
            return
        self.form = form
        self._register()
        if form.prepared is None:  # only told of, if it ran last
            self._forms = [each for each in self._forms if each.prepared is not None]
        self._forms.insert(0, form)
        del self._forms[_KEPT:]

    def _register(self) -> None:
        _keeping[id(self)] = self
        if self.registry is not None:
            self.registry[id(self)] = self

    def aged(self) -> None:
        """A cell begins: let go of what is kept, if that is the second one since it ran.

        Of forms that hold the user's arrays and objects then, and of all after `_IDLE` cells: functions are edited, and
        what they were is not called again.
        """
        self.idle += 1
        if self.idle > 1:
            self.let_go(self.idle > _IDLE)

    def let_go(self, everything: bool = False) -> int:
        """Keep no form that holds arrays or objects of the user's, or none at all; how many these were."""
        before = len(self._forms)
        self._raised = []
        self._forms = [] if everything else [each for each in self._forms if not each.holds_data]
        if not any(each is self.form for each in self._forms):
            self.form = None
        if not self._forms and self.registry is not None:
            self.registry.pop(id(self), None)
        return before - len(self._forms)

    def changing(self) -> list[str]:
        """What is said of captured numbers that the form that ran last is given."""
        found = None if self.form is None else self.form.prepared
        return (
            []
            if found is None or not found.numbers
            else [kept_changing(each.where[2] for each in found.numbers)]
        )

    def tell(self, source: str, trace: Trace, quiet: bool = False) -> None:
        """Add what the last run was to the trace of a report; `quiet`: without listings and pictures."""
        if self.form is not None:
            self.tell_of(self.form, source, trace, quiet)

    def tell_of(self, form: Form, source: str, trace: Trace, quiet: bool = False) -> None:
        """The same of a run in this form."""
        form.deferred_report.tell(source, self.options, trace, *self.changing(), quiet=quiet)
        often, first = f"{self.runs} times", "first run in this form"
        if self.runs <= 1:
            often, first = "in this form before", "first run"
        if self.runs > 1 or form.again:
            took = f"the last one took {units.seconds(form.seconds)}"
            text = f"This pipeline ran {often}; the figures are those of its {first}, {took}."
            trace.add("which_run", text=text)


_keeping: WeakValueDictionary[int, Repeated] = WeakValueDictionary()
"""Those that keep forms, by identity."""

_ended = False


@atexit.register
def _end() -> None:
    """The interpreter ends: no forms are kept any more.

    Forms hold what functions read, and pipes have theirs in a table of this package, which is there to the end: a
    module would stay with them, and with it files that were not written to their end.
    """
    global _ended  # noqa: PLW0603  a process ends once
    _ended = True
    for each in filter(None, [known() for known in _keeping.valuerefs()]):
        each.let_go(everything=True)


__all__ = ["Form", "Repeated"]
